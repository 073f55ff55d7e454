package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestFaultyBraces adds lines to the room of the minimal file, as TestFaultyLines does.
func TestFaultyBraces(t *testing.T) {
	for name, tt := range map[string]struct {
		lines string
		want  []string
	}{
		"braces in the middle of a segment": {"    path: /room-{id}", []string{`6:11: rooms[0].path: "/room-{id}" has braces in the middle of a segment: they stand for a whole one (did you mean "/room/{id}"?)`}},
		"braces and more":                   {"    path: /a/{id}.html/b", []string{`6:11: rooms[0].path: "/a/{id}.html/b" has braces in the middle of a segment: they stand for a whole one (did you mean "/a/{id}/b"?)`}},
		"a brace that is not closed":        {"    path: /room/{id", []string{`6:11: rooms[0].path: "/room/{id" has one brace without the other (did you mean "/room/{id}"?)`}},
		"a brace that is not opened":        {"    path: /room/id}", []string{`6:11: rooms[0].path: "/room/id}" has one brace without the other`}},
		"braces without a name":             {"    path: /room/{}", []string{`6:11: rooms[0].path: "/room/{}" has braces that hold no name: letters, digits, - and _, as in {id}`}},
		"braces around something else":      {"    path: /room/{a.b}", []string{`6:11: rooms[0].path: "/room/{a.b}" has braces that hold no name: letters, digits, - and _, as in {id}`}},
		"braces twice":                      {"    path: /{a}/{b}", []string{`6:11: rooms[0].path: "/{a}/{b}" has braces twice: one segment tells the rooms apart`}},
		"max_rooms without braces":          {"    max_rooms: 3", []string{`6:16: rooms[0].max_rooms: is about a room for each value: the path has no segment in braces, such as /room/{id}`}},
		"room_idle without braces":          {"    room_idle: 3m", []string{`6:16: rooms[0].room_idle: is about a room for each value: the path has no segment in braces, such as /room/{id}`}},
		"no rooms at all":                   {"    path: /{id}\n    max_rooms: 0", []string{`7:16: rooms[0].max_rooms: 0 is too small: at least 1`}},
		"an empty room that goes at once":   {"    path: /{id}\n    room_idle: 0s", []string{`7:16: rooms[0].room_idle: "0s" is too short: at least 1s`}},
		"a key nearly max_rooms":            {"    path: /{id}\n    max_room: 3", []string{`7:5: rooms[0].max_room: unknown key (did you mean "max_rooms"?)`}},
		"braces in another route alone": {"    additional_routes: [{path: '/x/{id}'}]", []string{
			`6:32: rooms[0].additional_routes[0].path: "/x/{id}" has braces, and the room's own path, "/", has none`}},
		"another route without the braces": {"    path: /room/{id}\n    additional_routes: [{path: /x}, {host: a.test}, {path: '/y/{key}'}, {path: '/z/{id}'}]", []string{
			`7:32: rooms[0].additional_routes[0].path: "/x" does not tell which room: like the room's own path it needs a segment {id}`,
			`7:37: rooms[0].additional_routes[1].path: "/" does not tell which room: like the room's own path it needs a segment {id}`,
			`7:60: rooms[0].additional_routes[2].path: "/y/{key}" does not tell which room: like the room's own path it needs a segment {id}`}},
		"the same rooms under another name": {"    path: /room/{id}\n    additional_routes: [{path: '/ROOM/{id}/'}]", []string{
			`7:25: rooms[0].additional_routes[0]: the path "/room/{}" of every host is guarded already, on line 6`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, faults := setup{file: minimal + tt.lines + "\n"}.load(t)
			for i := range tt.want {
				tt.want[i] = "gate.yaml:" + tt.want[i]
			}
			assert.Equal(t, tt.want, faults)
		})
	}
}

func TestBracesMakeAFamily(t *testing.T) {
	r := setup{file: minimal + "    path: /room/{id}/live\n    max_rooms: 7\n    room_idle: 90s\n    additional_routes: [{host: a.test, path: '/{id}'}]\n"}.mustLoad(t).Rooms[0]
	assert.Equal(t, "/room/{id}/live", r.Path)
	assert.Equal(t, 7, r.MaxRooms)
	assert.Equal(t, 90*time.Second, r.RoomIdle)
	assert.Equal(t, "/{id}", r.AdditionalRoutes[0].Path)
}
