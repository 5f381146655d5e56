package night

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/pipeline/commit"
)

// Timers maps each kind of timer (systemd, cron, Kubernetes) to the files that are written for it and the commands that
// install them.
var Timers = map[string]struct {
	files []string
	next  string
}{
	"systemd": {[]string{"velum.service", "velum.timer", "velum-alert@.service"}, `
sudo install -m 0644 velum.service velum.timer velum-alert@.service /etc/systemd/system/
sudo systemctl daemon-reload && sudo systemctl enable --now velum.timer
sudo systemctl start velum.service; journalctl -u velum.service     # a night now
`},
	"cron": {nil, "\n# crontab -e, and this line; what it prints comes by mail\n30 1 * * *  cd %s\n"},
	"kubernetes": {[]string{"kubernetes.yaml"},
		"\n# its first lines say which claims and which secret are yours to make\nkubectl create namespace velum && kubectl apply --namespace velum --filename kubernetes.yaml\n"},
}

// write writes the recipes with the paths of this night into the working folder.
func (o *Options) write(c *console.Console) error {
	timer := Timers[o.Timer]
	if len(o.In) > 1 || o.Config == "" {
		return exit.Misconfiguredf("velum night --config velum.yaml --in ARCHIVE --out DIR --timer "+o.Timer,
			"a timer wants one --in, and --config")
	}
	if o.Private == "" {
		o.Private = commit.PrivateDir(o.Out)
	}
	paths := []string{os.Args[0], o.Config, o.In[0], o.Out, o.Private, "."}
	if program, err := os.Executable(); err == nil {
		paths[0] = program
	}
	for i := range paths {
		var err error
		if paths[i], err = filepath.Abs(paths[i]); err != nil {
			return err
		}
	}
	program, config, in, out, private := exit.Quoted(paths[0]), exit.Quoted(paths[1]), exit.Quoted(paths[2]), exit.Quoted(paths[3]),
		exit.Quoted(paths[4])
	command := fmt.Sprintf("%s night --config %s --in %s --out %s --private %s", program, config, in, out, private)
	settings, err := os.ReadFile(o.Config)
	if err != nil {
		return err
	}
	name := "velum"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	texts := strings.NewReplacer("/usr/bin/velum night --config /etc/velum/night.yaml --set key.file=%d/velum.key \\\n    --in /srv/archive --out /srv/velum/masked --private /srv/velum/private \\\n    --metrics /srv/velum/metrics/velum.prom --audit 300 --json", command,
		"ExecPaths=/usr/bin/velum", "ExecPaths="+program,
		"# The key is readable to this service alone and never stands in a flag or a\n# variable.\nLoadCredential=velum.key:/etc/velum/velum.key\n\n", "",
		"/srv/archive /srv/velum", in+" "+filepath.Dir(out), "ReadOnlyPaths=/srv/archive", "ReadOnlyPaths="+in,
		"ReadWritePaths=/srv/velum", "ReadWritePaths="+filepath.Dir(out)+" "+filepath.Dir(private), "ProtectHome=yes", "ProtectHome=no",
		"=velum\n", "="+name+"\n", "ExecStart=", "WorkingDirectory="+paths[5]+"\nExecStart=",
		"    profile: primary-care\n    write:\n      max_quarantined: 0.01\n",
		"    "+strings.ReplaceAll(strings.TrimSpace(string(settings)), "\n", "\n    ")+"\n")
	for _, file := range timer.files {
		if err := commit.Writable(file, ""); err != nil {
			return err
		}
		text, err := configs.FS.ReadFile("deploy/" + file)
		if err == nil {
			err = os.WriteFile(file, []byte(texts.Replace(string(text))), 0o644)
		}
		if err != nil {
			return err
		}
		if _, err := c.Printf("%s is written\n", file); err != nil {
			return err
		}
	}
	_, err = c.Printf("%s", []byte(strings.ReplaceAll(timer.next, "%s", exit.Quoted(paths[5])+" && "+command)))
	return err
}
