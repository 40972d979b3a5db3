// Package picturetest holds a page's picture against the one that is kept, for tests that drive a browser.
//
// It decides what counts as the same: letters are drawn a little differently from machine to machine, so means of small
// squares are compared, and only by the version of the browser that took the kept picture. It never drives a browser: a
// test brings the picture. Start at Kept. A page that changed on purpose is taken again with the test's -rewrite, and a
// reviewer looks at the two files. To keep another page's pictures, call Kept from its browser test.
package picturetest
