// Package catalog is the collection of scenarios that vppdrill brings along, by topic.
//
// It decides which rehearsals every change of a cluster's networking should pass; what they mean, scenarios decides, and
// who judges them, scenarios/check. Random ones come from scenarios/gen. Start at All.
//
// Each file opens with its goal, is named after its scenario, and lies in the folder of its first label. Those labeled slow
// take more than a second in the simulator; the rest are a few nodes and a few minutes of virtual time.
//
// A file that does not parse is a mistake of this repository and an error of All, never skipped.
//
// To add a scenario, write its file; All finds it.
package catalog
