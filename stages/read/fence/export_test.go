package fence

// Plant makes a worker call do before each step; IdlePID is the process of a worker that waits.
func Plant(do func(step, path string)) { plant = do }

func (f *Fence) IdlePID() int { return f.idle[0].cmd.Process.Pid }
