// Package heatmap draws two-dimensional histograms as PNG: axes with ticks and
// labels, a title, and a legend of the colours, which are even to the eye and
// can be told apart without colour vision.
package heatmap
