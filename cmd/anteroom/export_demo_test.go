package main

// Program is run, for the tests of the demo.
var Program = run
