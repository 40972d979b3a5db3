package reports

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Where pictures of the pages are kept, how much of a page one shows in CSS pixels, and how many bytes one may have.
const (
	picturesDir   = "testdata/pictures"
	picturesTall  = 3200
	pictureMost   = 300 << 10
	pictureSource = "sources.txt"
)

// TestPicturesAreOfThisPage goal: who reviews a change of the page sees what it looks like. Method: the pictures kept are of these sources, by
// a hash beside them; each is there and small. `go test ./reports -rewrite` takes them again, in chromium.
func TestPicturesAreOfThisPage(t *testing.T) {
	sum := fmt.Sprintf("%x\n", sha256.Sum256([]byte(pageTemplate+pageStyle+pageScript+pictureScript+storyScript+compareScript)))
	file := filepath.Join(picturesDir, pictureSource)
	if *rewrite && findChromium() != "" { // the browser's tests take the pictures
		if err := os.WriteFile(file, []byte(sum), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if old, err := os.ReadFile(file); err != nil || string(old) != sum {
		t.Errorf("the page has changed and its pictures have not: go test ./reports -rewrite takes them again, with chromium (%v)", err)
	}
	for _, what := range []string{"report", "failure"} {
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int{360, 1280} {
				name := filepath.Join(picturesDir, fmt.Sprintf("%s-%s-%d.jpg", what, scheme, width))
				if info, err := os.Stat(name); err != nil || info.Size() < 10_000 || info.Size() > pictureMost {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}
