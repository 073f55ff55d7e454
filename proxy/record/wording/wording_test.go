package wording_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairdoor-gate/fairdoor/proxy/record"
	"github.com/fairdoor-gate/fairdoor/proxy/record/wording"
)

func TestAChangeIsToldInWords(t *testing.T) {
	const times = "2026-12-04T18:00:00Z to 2026-12-04T20:00:00Z"
	long := strings.Repeat("many words ", 20)
	for name, c := range map[string]struct {
		record.Change
		from, to string
	}{
		"a switch":             {record.Change{What: "queue_all", From: "false", To: "true"}, "off", "on"},
		"a message":            {record.Change{What: "message", To: long}, "(empty)", strings.TrimSpace(strings.Repeat("many words ", 7)) + "…"},
		"items":                {record.Change{What: "items", To: `[{"name": "Seat", "left": 3}]`}, "(empty)", "Seat, 3 left"},
		"a visitor":            {record.Change{What: "visitor removed", To: "7F3K-Q2M9"}, "", "7F3K-Q2M9"},
		"a planned event":      {record.Change{What: "event sale", To: times + ", shuffled"}, "not planned", times + ", shuffled"},
		"a cancelled event":    {record.Change{What: "event sale", From: times}, times, "cancelled"},
		"another description":  {record.Change{What: "event sale", From: times + `, description "Skis, \"new\", boots"`, To: times + `, description "Skis"`}, `description “Skis, "new", boots”`, "description “Skis”"},
		"no description":       {record.Change{What: "event sale", From: times + `, description "Skis"`, To: times}, "description “Skis”", "no description"},
		"an own limit":         {record.Change{What: "event sale", From: times, To: times + ", total_active_users 800"}, "total_active_users as the room has it", "total_active_users 800"},
		"a suspended event":    {record.Change{What: "event sale", From: times + ", shuffled", To: times + ", shuffled, suspended"}, "not suspended", "suspended"},
		"an event with a page": {record.Change{What: "event sale", From: times, To: times + ", page 0a1b2c3d"}, "no page", "a page of its own (0a1b2c3d)"},
	} {
		from, to := wording.Change(c.Change)
		assert.Equal(t, c.from, from, name)
		assert.Equal(t, c.to, to, name)
	}
}
