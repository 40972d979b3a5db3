package reports

import "os"

// lockStage holds nothing: Windows locks no folders, and renames none that is open. So what killed writers left stays.
func lockStage(string) (*os.File, error) { return nil, nil }
