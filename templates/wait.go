package templates

import (
	_ "embed"
	"sync"
)

//go:embed page/wait.js
var waitSource string

// WaitScript is the script for pages of a site whose requests wait in place: it defines
// fairdoor.fetch.
var WaitScript = sync.OnceValue(func() string { return squeezeScript(waitSource) })
