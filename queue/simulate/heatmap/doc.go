// Package heatmap draws two-dimensional histograms as PNG: axes with ticks and
// labels, a title, and a legend of the colours, which are even to the eye and
// can be told apart without colour vision.
//
// Labels are drawn with golang.org/x/image, which has the fonts that the standard
// library lacks; the Go libraries for plots draw theirs with it, too.
package heatmap
