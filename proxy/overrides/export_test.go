package overrides

// ReadBeside are the sentences that operators are told their visitors read.
var ReadBeside = readBeside
