// For Android, with OkHttp and a CookieJar of yours that writes to disk.
val http = OkHttpClient.Builder().cookieJar(PersistentCookieJar(context)).build()   // a CookieJar of yours that writes to disk

suspend fun get(url: String, waiting: (JSONObject, Long) -> Unit): String {
    while (true) {
        val request = Request.Builder().url(url).header("Accept", "application/json").build()
        val (answer, body) = withContext(Dispatchers.IO) { http.newCall(request).execute().use { it to it.body!!.string() } }
        if (answer.header("Fairdoor-Room") == null) return body
        val seconds = answer.header("Retry-After")?.toLong() ?: throw IOException("The shop takes nobody at the moment.")
        waiting(JSONObject(body).getJSONObject("cfWaitingRoom"), seconds)
        delay(seconds * 1000)
    }
}
