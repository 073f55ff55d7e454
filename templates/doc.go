// Package templates writes the answers for queued visitors: the page of a waiting
// room, the same as JSON, and the pages of the gate's own errors. It knows
// nothing of the queue; it is given plain values in a [Data].
//
// A page is rendered once for each state of a room, not once for each visitor. A visitor's
// own values are the time of the last check-in, the interval until the next one, and in an
// exact line the numbers of the [Place]. [Rendered] has gaps for them, and
// [Rendered.AppendTo] fills them in, and [Rendered.AppendGzip] does so in a page that was
// compressed once for all. In the order in which they are used:
//
//	Parse     checks and compiles a custom template (Mustache)
//	NewSet    the templates of one room: a custom page, or the built-in one
//	          in each of its languages
//	Set.Match the language for an Accept-Language header
//	WantsJSON whether an Accept header asks for JSON rather than the page
//	Set.Page, Set.JSON
//	          render a Data; the caller keeps the result for a second or so
//	Problems  the gate's own error pages and problem+json
//	States    every state a room can be in, for previews and checks
//	Sheet     a page of another package in the same style and languages
//
// A custom template has the variables of Cloudflare's Waiting Room under their names, and
// ours besides; see [Variables]. It has no access to files, the environment or the
// request, and no partials.
package templates
