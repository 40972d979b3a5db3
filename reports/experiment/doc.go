// Package experiment makes one HTML page of an experiment: tables with intervals, plots, and the command that replays each point.
//
// It decides what is drawn of which outcome; what the figures are is scenarios/experiment's affair. The page is one file without
// scripts and without any request to elsewhere. Plots are SVG by gonum's plot, the same bytes for the same outcome. Start at Write.
// To add a plot, write a function beside bands and list it in plots.
package experiment
