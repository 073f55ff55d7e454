// Package feature is what the gate and its features know of each other: rooms and their setups,
// visits, and the stages of a visit in which features have a say.
//
// A [Feature] is something that a room may have beside its limits: a challenge, passes, a waitlist.
// Each is a package below proxy: what a configuration says of it (its options), its paths below
// [Paths], its say and its pages. It knows this package, and no other feature. The gate has them in
// one list (features.go of package proxy), in the order in which they are asked.
//
// A feature serves a gate for as long as the gate lives. What one room has of it in one
// configuration is a [Part]. A part implements the stages in which it has a say, and a [Setup]
// keeps a short list for each stage: a room pays for what it has.
//
//	[Dresser]      adds to the pages of the room
//	[EndlessLine]  takes in people before anything else is known of them, and lets in none
//	[Recogniser]   says who sends a request, and what they may have
//	[Doorkeeper]   answers those who may not join the room
//	               the queue decides
//	[Substitute]   answers a visitor who is not let in, in place of the page
//	[Asker]        adds to a request on its way to the site
//	[Watcher]      watches the site's answer
//	[Issuer]       adds cookies to the ticket
//	[Keeper]       keeps the place of a visitor whose page says goodbye
//
// What the configuration of a room says of a feature is a struct of the feature's own, with the
// tags of [setting.Field], which proxy.RoomOptions has a field for. The tags are all that the file,
// flags, variables, the schema and GET of a room need. A rule of several options, or of one in its
// room, is what a [config.Checker] tells. Besides its field, an option needs its line in
// cmd/fairdoor/config/fairdoor.yaml, and what is written anew from the tags (go test
// ./cmd/fairdoor/config ./proxy/admin -update).
//
// What a feature counts, and what it tells Prometheus when that asks, it has by the [Gate]'s Metrics
// as it is made.
//
// Besides, a feature may have paths of its own ([Owner]), resources of the admin API
// ([Administered]), do something by itself ([Runner]), look at rooms as they are synced
// ([Follower]), hear what the site tells by headers of its answers ([Listener]), note the entries
// of draws ([Registrar]) and the changes of what rooms go by ([Chronicler]), be told more than its
// rooms are ([Chooser]), have something to end ([Closer]) or answers to end ([Drainer]), go with
// requests to their end ([Escort]), be told what is decided about them ([Witness]), and what becomes
// of visitors ([Observer]). A part may be made anew for each room of a family ([Sharer]).
package feature
