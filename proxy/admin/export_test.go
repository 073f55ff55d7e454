package admin

// LabelOf is by what operators recognise a visitor.
var LabelOf = labelOf
