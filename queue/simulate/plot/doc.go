// Package plot draws what became of a crowd as PNG: heat maps, which are two-dimensional
// histograms, and scatter plots, with a dot for each point. Both have the same axes, with
// ticks and labels, and a title. The legend of a heat map has colours that are even to the
// eye and can be told apart without colour vision.
//
// Labels are drawn with golang.org/x/image, which has the fonts that the standard
// library lacks; the Go libraries for plots draw theirs with it, too.
package plot
