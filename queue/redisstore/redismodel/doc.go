// Package redismodel is a model of a Redis server in the process: its protocol over any connection,
// the commands that package redisstore and its scripts use, and their scripts. It goes by a clock
// that is handed in. It is imported by tests only.
//
// The contract of package storetest holds it to what the store needs, and a test that sends random
// commands to it and to a real server holds it to that. What neither uses is not here. It is known
// to differ in these:
//
//   - A number of more than 14 digits that tostring or the operator .. make a text of keeps its digits; in a server it is rounded.
//   - cmsgpack.pack writes JSON, which only cmsgpack.unpack reads.
//   - HGETALL and HKEYS list fields in the order in which they came.
package redismodel
