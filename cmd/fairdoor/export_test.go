package main

// Program is run, for tests.
var Program = run
