package reports

import (
	"fmt"
	"testing"

	"github.com/vppdrill/vppdrill/reports/picturetest"
)

// Where pictures of the pages are kept, and how much of a page one shows in CSS pixels.
const (
	picturesDir  = "testdata/pictures"
	picturesTall = 2400
)

// TestPicturesAreOfThisPage goal: who reviews a change of the page sees what it looks like. Method: the pictures kept are of these sources, by
// a hash beside them; each is there and small. `go test ./reports -rewrite` takes them again, in chromium.
func TestPicturesAreOfThisPage(t *testing.T) {
	var names []string
	for _, what := range []string{"report", "failure"} {
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int{360, 1280} {
				names = append(names, fmt.Sprintf("%s-%s-%d", what, scheme, width))
			}
		}
	}
	picturetest.Of(t, *rewrite && findChromium() != "", picturesDir, pageTemplate+pageStyle+pageScript+pictureScript+storyScript+compareScript, names...)
}
