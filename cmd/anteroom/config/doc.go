// Package config turns a file, the environment and the flags of a command line into one validated [Config].
//
// One table of keys ([Keys]) says for every setting how it is called in the file, in the environment and as a flag, what it
// defaults to and how its text is read, so that the three cannot drift apart. Flags win over the environment, the environment
// over the file, the file over the default; what is overridden is checked all the same.
//
// [Load] reports every fault at once, each with its place: FILE:LINE:COL and the key's path, the flag, or the variable. It looks at
// nothing but what its [Options] hand in, and it never puts the value of a secret into a message.
package config
