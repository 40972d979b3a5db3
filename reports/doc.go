// Package reports turns finished runs into what people and machines read: text, JSON, JUnit, one HTML page, event
// lines.
//
// It decides how a result is shown, in which order and how much of it. It never judges, reruns or knows a world: all
// that it says comes from result.Result. Start at Report. Output depends on the report alone: no clock, no map
// order, no environment is read while writing, so equal reports are equal bytes. Names in results are hostile until
// escaped. A folder is written file by file, each complete or absent; Read takes result.json back and every other file
// follows from it. To add a format, write one file beside text.go and a line in files.
package reports
