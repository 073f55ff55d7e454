// Package config turns a file, the environment and the flags of a command line into one validated
// [Config].
//
// The tags of Config say for every setting how it is called in the file, in the environment and as
// a flag, what it defaults to and what it may be, so that these cannot drift apart; those of a
// room's limits stand in [queue.Settings]. Flags win over the environment, the environment over the
// file, the file over the default; what is overridden is checked all the same.
//
// [Load] works in three steps. It copies the file's mapping, follows aliases and merges, expands
// variables, checks each text by the rule of its key, and puts the default before what is given for
// a key, and what the environment and the flags say behind it. Every node of the copy has a number
// in place of its line, which leads back to where it was written. Then the YAML library decodes the
// copy into Config, once; it tells all at once which keys nobody knows and which values are of
// another kind, and takes the last of what is there for a key. At the end comes what has to fit
// together. Rules that somebody else has, as route has them for paths, are asked for there.
//
// Load reports every fault at once, each with its position: FILE:LINE:COL and the key's path, the
// flag, or the variable. It looks at nothing but what its [Options] hand in, and it never puts the
// value of a secret into a message.
package config
