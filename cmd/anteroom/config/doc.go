// Package config turns a file, the environment and the flags of a command line into one validated [Config].
//
// The tags of Config say for every setting how it is called in the file, in the environment and as a flag, what it defaults to and what
// it may be, so that these cannot drift apart; those of a room's limits stand in [queue.Settings]. Flags win over the environment, the
// environment over the file, the file over the default; what is overridden is checked all the same.
//
// [Load] reads a layer in two steps. A copy of what is written is made, in which variables are expanded and merges followed, and each
// text is checked by the rule of its field; the copy's nodes know where they were written. Then the YAML library decodes the copy into
// Config, and its errors, keys that nobody knows and values of another kind, are told of these places. At the end comes what has to
// fit together. Rules that somebody else has, as route has them for paths, are asked for there.
//
// Load reports every fault at once, each with its place: FILE:LINE:COL and the key's path, the flag, or the variable. It looks at
// nothing but what its [Options] hand in, and it never puts the value of a secret into a message.
package config
