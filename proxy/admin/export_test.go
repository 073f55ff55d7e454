package admin

// LabelOf is by what operators recognise a visitor.
var LabelOf = labelOf

// ReadBeside are the sentences that operators are told their visitors read.
var ReadBeside = readBeside
