// For iOS. URLSession.shared keeps the cookie on disk, because it has a Max-Age.
struct Room: Decodable { let waitTimeFormatted: String }
struct Told: Decodable { let cfWaitingRoom: Room }

func get(_ url: URL, waiting: (Room) -> Void) async throws -> Data {
    while true {
        var request = URLRequest(url: url)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        let (body, response) = try await URLSession.shared.data(for: request)
        let answer = response as! HTTPURLResponse
        if answer.value(forHTTPHeaderField: "Fairdoor-Room") == nil { return body }
        guard let seconds = answer.value(forHTTPHeaderField: "Retry-After").flatMap(Int.init) else { throw URLError(.resourceUnavailable) }
        waiting(try JSONDecoder().decode(Told.self, from: body).cfWaitingRoom)
        try await Task.sleep(for: .seconds(seconds))
    }
}
