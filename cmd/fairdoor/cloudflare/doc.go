// Package cloudflare makes a configuration of what the API of Cloudflare's Waiting Room answers:
// rooms with their events and rules.
//
//	Add   reads an answer, and keeps the rooms in it, or what belongs to the room before
//	Files writes the configuration, and the pages beside it
//
// What has no counterpart here stands in the configuration as a comment. So does a rule whose
// expression cannot be said in conditions: what it exempts at Cloudflare then waits here.
package cloudflare
