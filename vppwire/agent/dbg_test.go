package agent
import ("testing";"fmt")
func TestDbg(t *testing.T) {
	s := newSchedule(t, 300)
	tt := &testing.T{}
	s.t = tt
	func(){ defer func(){recover()}(); s.run() }()
	b := s.l.boxes["n3"]
	fmt.Println(s.pools)
	for _, r := range b.agent.store.records { fmt.Printf("%+v\n", r) }
	fmt.Println(b.agent.ranges.plan, b.agent.ranges.want, b.agent.store.revision)
	fmt.Println(s.l.store.text())
}
