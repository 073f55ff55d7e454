package redisstore

import (
	"embed"
	"fmt"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/fairdoor-gate/fairdoor/queue"
	"github.com/fairdoor-gate/fairdoor/queue/pacing"
)

// The scripts are put together from these parts. In a script they stand in this order, and
// each uses what those above it define:
//
//	args         the keys, and functions that read the arguments
//	rules        the rules in force, and for how long the store remembers a room
//	putinforce   puts a new configuration in force
//	state        the state of the room, as fields of r, and what reads it
//	head         reads the head of the report, and what the store remembers
//	clock        the room's clock
//	numbers      the numbers of an exact line, and when it begins
//	sessions     who was let in, and whose session is revoked
//	notes        what the site says of visitors
//	marks        marks in the keys, by which a broken memory is noticed
//	memory       whether the store has lost anything, and the nodes that are waited for
//	keep         writes the state back
//	check        checks the marks of all keys
//	standstill   has sessions stand still, or go on
//	pacing       the random moments at which an allowance is released
//	slots        the one rule's count of open slots, and when there may be more
//	exact        the exact line
//	lineclaim    claims in a room with an exact line
//	line         the people present, by cell and by bucket; turns of windows and minutes
//	revoked      slots of revoked sessions
//	slowed       the factor by which admissions are slowed
//	report       counts the report
//	traffic      whether the room is open to all
//	configure    all that the configure script does
//	admit        decides the claims
//	sweep        drops what no longer matters
//	boundaries   cuts buckets, and counts the sessions that end soon
//	sync         returns the room as the node gets to know it
//	roster       returns who is in the room and who is in its exact line
//	save         returns the room's status, and writes the state back
//	retry        runs all after the state, and again if the memory was found to be broken
//
//go:embed lua/*.lua
var sources embed.FS

// parts are those of the names, one after another. Without one of them no server accepts the
// script.
func parts(names string) string {
	text := ""
	for name := range strings.FieldsSeq(names) {
		part, _ := sources.ReadFile("lua/" + name + ".lua")
		text += string(part)
	}
	return text
}

// There is one script for each method of the Store. All that comes after the state is in
// a function of its own: each call makes all functions anew, and a function is made
// faster the fewer names it takes from the function right around it.
var (
	baseLua   = parts("args rules")
	timeLua   = parts("head clock numbers sessions")
	memoryLua = timeLua + parts("notes marks memory keep")
	lineLua   = parts("standstill pacing slots") + openLine(parts("exact lineclaim")) + parts("line revoked slowed report traffic")

	configureScript = script(baseLua + parts("putinforce configure"))
	admitScript     = script(baseLua + parts("state") + within(memoryLua+lineLua+parts("admit save")) + parts("retry"))
	syncScript      = script(baseLua + parts("putinforce state") + within(memoryLua+parts("check")+lineLua+parts("sweep boundaries sync save")) + parts("retry"))
	rosterScript    = script(baseLua + parts("state") + within(timeLua+parts("notes")+openLine(parts("exact"))+parts("roster")) + "return room()\n")
)

// format is the format of what the scripts keep: see head.lua.
const format = 3

// shared is what the scripts share with Go. A script has a dollar sign and the name in the place of
// each.
var shared = map[string]any{
	"MaxDraws": queue.MaxDraws, "MaxTurns": queue.MaxTurns, "MaxRoster": queue.MaxRoster, "MaxMore": queue.MaxMore, "MaxLeft": queue.MaxLeft, "NotesSwept": queue.NotesSwept, "MaxExpired": queue.MaxExpired, "LineReturn": queue.LineReturn.Milliseconds(),
	"PassthroughCounts": queue.PassthroughCounts, "RateWaves": queue.RateWaves, "MinMeasured": queue.MinMeasured, "MaxMeasured": queue.MaxMeasured,
	"Lull": queue.Lull, "MaxParts": pacing.MaxParts, "LehmerFactor": pacing.Factor, "LehmerPrime": pacing.Prime,
	"AllowancePeriod": queue.AllowancePeriod.Milliseconds(), "Lately": queue.Lately.Milliseconds(), "NodeRemembered": queue.NodeRemembered.Milliseconds(), "ReportTime": queue.ReportTime.Milliseconds(),
	"MaxStandstills": queue.MaxStandstills, "Silence": queue.Silence.Milliseconds(), "MaxGaps": queue.MaxGaps, "LostNumbers": queue.LostNumbers, "MemoryMargin": queue.MemoryMargin.Milliseconds(),
	"CalmTime": queue.CalmTime.Milliseconds(), "TrafficSlices": queue.TrafficSlices,
	"EarlyTime": queue.EarlyTime.Milliseconds(), "CutShare": queue.CutShare, "CutTime": queue.CutTime.Milliseconds(),
	"CutInterval": queue.CutInterval.Milliseconds(), "ArrivalTime": queue.ArrivalTime.Milliseconds(), "MaxBoundaries": queue.MaxBoundaries, "EndSteps": endSteps(),
	"Format":   format,
	"RoomKept": queue.RoomKept.Milliseconds(), "LineKept": queue.LineKept.Milliseconds(), "DefaultRules": defaultRules().lua(),
}

// endSteps are queue.EndSteps as a table of the scripts, in milliseconds.
func endSteps() string {
	b := []byte("{")
	for _, step := range queue.EndSteps {
		b = fmt.Appendf(b, "%d, ", step.Milliseconds())
	}
	return string(append(b, '}'))
}

// withShared puts what is shared into a script. An unknown name stays as it is, and no server
// accepts the script.
func withShared(source string) string {
	return os.Expand(source, func(name string) string {
		if value, ok := shared[name]; ok {
			return fmt.Sprint(value)
		}
		return "$" + name
	})
}

func script(source string) *redis.Script { return redis.NewScript(withShared(source)) }

// openLine makes the functions of the exact line once they are needed.
func openLine(body string) string {
	return "local function open_line()\n" + body + "line.count()\nend\n"
}

func within(body string) string { return "local function room()\n" + body + "end\n" }

// keys are the keys of a room, in the order in which the scripts expect them. An exact
// line has lists besides, whose names begin with the last key. The braces keep all of
// them on one node of a Cluster.
func keys(room string) []string {
	names := [...]string{"meta", "conf", "drawn", "left", "untold", "admitted", "notes", "sessions", "counts", "buckets", "windows",
		"revoked", "order", "levels", "unconfirmed", "places"}
	list, prefix := make([]string, len(names)), "fairdoor:{"+room+"}:"
	for i, name := range names {
		list[i] = prefix + name
	}
	return list
}
