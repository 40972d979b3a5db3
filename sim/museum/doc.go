// Package museum shows, one by one, faults of address management that real projects once had. Each exhibit is a
// scenario of the catalogue, the law that the upstream fault broke, and a planted fault that puts it back.
//
// It decides nothing about addresses. A planted fault lives here and wraps what the product made (an allocator, an
// agent, a journal, a controller); no product code knows of it. Without it the scenario must hold every law; with it
// the exhibit's law must break. So a law that has gone blind is noticed, and so is a scenario that no longer reaches
// its purpose.
//
// Not every incident can be shown. The model has no dual stack, finalizers or detached interfaces for some; others
// broke no promise to a pod but cost calls, hid a message or surprised their users.
//
// Start at All and Exhibit.Show. Exhibits are grouped by upstream project, one file each; wrap*.go holds the wrappers
// that several of them share. A planted fault belongs to one run and follows from the run alone, so a seed shows it
// again event for event. To add an exhibit, write its scenario in scenarios/catalog/museum and its entry in the file of
// its upstream.
package museum
