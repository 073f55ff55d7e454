package config

import _ "embed" // for the example

//go:embed anteroom.yaml
var example string

// Example is a complete configuration file with a comment for every key: the starting point for one's own.
func Example() string { return example }
