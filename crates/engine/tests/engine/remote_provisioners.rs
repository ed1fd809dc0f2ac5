//! Tests of `remote-exec` and `file` provisioners, with machines in memory.

use expect_test::{Expect, expect};
use state::Status;

use crate::{
    network::Behaviour,
    world::{World, summaries, world},
};

/// Applies a configuration. Compares the log, the diagnostics and what was done with the machines.
#[track_caller]
fn check(fixture: &str, behaviour: impl Fn(&mut Behaviour), expected: Expect) -> World {
    check_with(fixture, |_| {}, behaviour, expected)
}

#[track_caller]
pub(crate) fn check_with(
    fixture: &str,
    prepare: impl Fn(&mut World),
    behaviour: impl Fn(&mut Behaviour),
    expected: Expect,
) -> World {
    let mut world = world(fixture);
    prepare(&mut world);
    world.network.set(|it| behaviour(it));
    let diagnostics = world.apply();
    let details: Vec<&str> = diagnostics.iter().map(|it| it.detail.as_str()).collect();
    let is_shown = |it: &&str| it.contains("(remote-exec):") && !it.contains("):   ");
    let lines: Vec<String> =
        world.log().lines().filter(is_shown).map(|it| format!("{it}\n")).collect();
    let shown = format!(
        "{}---\n{}{}\n---\n{}",
        lines.concat(),
        summaries(&diagnostics),
        details.join("\n"),
        world.network.log()
    );
    expected.assert_eq(&without_numbers(&shown));
    world
}

/// Replaces the random numbers in paths by `N`.
fn without_numbers(text: &str) -> String {
    let mut shown = String::new();
    for part in text.split_inclusive(|it: char| !it.is_ascii_digit()) {
        let digits = part.trim_end_matches(|it: char| !it.is_ascii_digit());
        match digits.len() {
            0..=5 => shown.push_str(part),
            length => shown.push_str(&format!("N{}", &part[length..])),
        }
    }
    shown
}

/// The lines that say how the connection is made.
fn description(fixture: &str) -> String {
    let mut world = world(fixture);
    assert_eq!(summaries(&world.apply()), "");
    let log = world.log();
    let lines = log.lines().filter_map(|it| it.strip_prefix("test_thing.a (remote-exec): "));
    lines.collect::<Vec<_>>().join("\n")
}

fn status(world: &World) -> Option<Status> {
    let entry = world.state.instances().next()?;
    entry.instance.current.as_ref().map(|it| it.status)
}

const SCRIPT: &str = r#"
resource "test_thing" "a" {
  name = "a"
  provisioner "remote-exec" {
    inline = ["echo ${self.name}", "exit"]
    connection { host = "10.0.0.1" }
  }
}
"#;

/// The configuration of [`SCRIPT`] with another argument of its connection.
fn with_argument(argument: &str) -> String {
    SCRIPT.replace("{ host = \"10.0.0.1\" }", &format!("{{\nhost = \"10.0.0.1\"\n{argument}\n}}"))
}

#[test]
fn inline_script_is_uploaded_and_run_and_then_emptied() {
    let world = check(
        SCRIPT,
        |it| it.prints = "printed\nmore",
        expect![[r##"
        test_thing.a (remote-exec): Connecting to remote host via SSH...
        test_thing.a (remote-exec): Connected!
        test_thing.a (remote-exec): printed
        test_thing.a (remote-exec): more
        ---

        ---
        connect root@10.0.0.1:22
        upload to /tmp/terraform_N.sh: OwnExecutable "#!/bin/sh\necho a\nexit\n"
        run chmod 0700 /tmp/terraform_N.sh
        run /tmp/terraform_N.sh
        upload to /tmp/terraform_N.sh: OwnExecutable ""
        close
        closed"##]],
    );
    assert_eq!(status(&world), Some(Status::Ready));
}

#[test]
fn provisioner_arguments_override_those_of_the_resource() {
    check(
        r##"
resource "test_thing" "a" {
  name = "a"
  connection {
    host        = self.id
    user        = "u"
    port        = 2222
    private_key = "key"
    script_path = "/opt/s %RAND%.sh"
  }
  provisioner "remote-exec" {
    inline = ["#!/bin/bash", "true"]
    connection {
      user         = "v"
      password     = "pw"
      host_key     = "ssh-ed25519 AAAA"
      bastion_host = "b"
      bastion_port = 23
      bastion_user = "w"
      proxy_host   = "::2"
      proxy_port   = 1080
      proxy_scheme = "socks5"
    }
  }
  provisioner "file" {
    content     = "text"
    destination = "~/there"
  }
}
"##,
        |_| {},
        expect![[r##"
            test_thing.a (remote-exec): Connecting to remote host via SSH...
            test_thing.a (remote-exec): Using configured bastion host...
            test_thing.a (remote-exec): Using configured proxy host...
            test_thing.a (remote-exec): Connected!
            ---

            ---
            connect v@id1:2222 password=pw private_key=key host_key=ssh-ed25519 AAAA over w@b:23 password=pw private_key=key by Socks5 ::2:1080
            upload to /opt/s N.sh: OwnExecutable "#!/bin/bash\ntrue\n"
            run chmod 0700 '/opt/s N.sh'
            run '/opt/s N.sh'
            upload to /opt/s N.sh: OwnExecutable ""
            close
            closed
            connect u@id1:2222 private_key=key
            upload to ~/there: Readable "text"
            close
            closed"##]],
    );
}

#[test]
fn connection_is_described_without_its_credentials() {
    expect![[r#"
        Connecting to remote host via SSH...
          Host: 10.0.0.1
          User: root
          Password: false
          Private key: false
          Certificate: false
          SSH Agent: false
          Checking Host Key: false
          Target Platform: unix
        Connected!"#]]
    .assert_eq(&description(SCRIPT));
    expect![[r#"
        Connecting to remote host via SSH...
          Host: [::1]
          User: u
          Password: true
          Private key: true
          Certificate: true
          SSH Agent: false
          Checking Host Key: true
          Target Platform: windows
        Using configured bastion host...
          Host: (sensitive value)
          User: u
          Password: true
          Private key: true
          Certificate: true
          SSH Agent: false
          Checking Host Key: false
        Using configured proxy host...
          ProxyHost: proxy
          ProxyPort: 1080
          ProxyUserName: p
          ProxyUserPassword: true
        Connected!"#]]
    .assert_eq(&description(
        r#"
variable "s" {
  default   = "secret-host"
  sensitive = true
}
resource "test_thing" "a" {
  name = "a"
  provisioner "remote-exec" {
    inline = ["true"]
    connection {
      host                = "::1"
      user                = "u"
      password            = "password-1"
      private_key         = "key-1"
      certificate         = "certificate-1"
      host_key            = "ssh-ed25519 AAAA"
      target_platform     = "windows"
      bastion_host        = var.s
      bastion_password    = "password-2"
      bastion_private_key = "key-2"
      proxy_host          = "proxy"
      proxy_port          = 1080
      proxy_user_name     = "p"
      proxy_user_password = "password-3"
    }
  }
}
"#,
    ));
}

#[test]
fn scripts_are_files_of_the_root_module() {
    check(
        r#"
//- /main.tf
resource "test_thing" "a" {
  name = "a"
  connection { host = "::1" }
  provisioner "remote-exec" { script = "one.sh" }
  provisioner "remote-exec" { scripts = ["one.sh", "${path.module}/two.sh"] }
  provisioner "remote-exec" { scripts = ["none.sh"] }
}
//- /one.sh
#!/bin/bash
one
//- /two.sh
two
"#,
        |_| {},
        expect![[r##"
            test_thing.a (remote-exec): Connecting to remote host via SSH...
            test_thing.a (remote-exec): Connected!
            test_thing.a (remote-exec): Connecting to remote host via SSH...
            test_thing.a (remote-exec): Connected!
            ---
            error: remote-exec provisioner error
            Failed to open script 'none.sh': entity not found
            ---
            connect root@::1:22
            upload to /tmp/terraform_N.sh: OwnExecutable "#!/bin/bash\none\n"
            run chmod 0700 /tmp/terraform_N.sh
            run /tmp/terraform_N.sh
            upload to /tmp/terraform_N.sh: OwnExecutable ""
            close
            closed
            connect root@::1:22
            upload to /tmp/terraform_N.sh: OwnExecutable "#!/bin/bash\none\n"
            run chmod 0700 /tmp/terraform_N.sh
            run /tmp/terraform_N.sh
            upload to /tmp/terraform_N.sh: OwnExecutable ""
            upload to /tmp/terraform_N.sh: OwnExecutable "#!/bin/sh\ntwo\n"
            run chmod 0700 /tmp/terraform_N.sh
            run /tmp/terraform_N.sh
            upload to /tmp/terraform_N.sh: OwnExecutable ""
            close
            closed"##]],
    );
}

#[test]
fn machine_with_windows_gets_no_shebang_and_no_permissions() {
    check(
        r#"
resource "test_thing" "a" {
  name = "a"
  provisioner "remote-exec" {
    inline = ["dir"]
    connection {
      host            = "w"
      target_platform = "windows"
    }
  }
}
"#,
        |_| {},
        expect![[r#"
            test_thing.a (remote-exec): Connecting to remote host via SSH...
            test_thing.a (remote-exec): Connected!
            ---

            ---
            connect root@w:22
            upload to C:/windows/temp/terraform_N.cmd: OwnExecutable "dir\n"
            run C:/windows/temp/terraform_N.cmd
            upload to C:/windows/temp/terraform_N.cmd: OwnExecutable ""
            close
            closed"#]],
    );
}

#[test]
fn directory_is_copied_with_its_name_unless_it_ends_with_a_slash() {
    check(
        r#"
//- /main.tf
resource "test_thing" "a" {
  name = "a"
  connection { host = "h" }
  provisioner "file" {
    source      = "conf"
    destination = "/etc"
  }
  provisioner "file" {
    source      = "conf/"
    destination = "/etc"
  }
  provisioner "file" {
    source      = "conf/a"
    destination = "/etc/b"
  }
}
//- /conf/a
a
"#,
        |_| {},
        expect![[r#"
            ---

            ---
            connect root@h:22
            upload to /etc: directory /conf
            close
            closed
            connect root@h:22
            upload to /etc: contents of /conf/
            close
            closed
            connect root@h:22
            upload to /etc/b: file /conf/a
            close
            closed"#]],
    );
}

#[test]
fn attempts_to_connect_are_repeated_until_the_timeout() {
    check(
        SCRIPT,
        |it| it.refuses = 1,
        expect![[r##"
        test_thing.a (remote-exec): Connecting to remote host via SSH...
        test_thing.a (remote-exec): Connecting to remote host via SSH...
        test_thing.a (remote-exec): Connected!
        ---

        ---
        connect root@10.0.0.1:22
        connect root@10.0.0.1:22
        upload to /tmp/terraform_N.sh: OwnExecutable "#!/bin/sh\necho a\nexit\n"
        run chmod 0700 /tmp/terraform_N.sh
        run /tmp/terraform_N.sh
        upload to /tmp/terraform_N.sh: OwnExecutable ""
        close
        closed"##]],
    );
    check(
        &with_argument("timeout = \"20s\""),
        |it| it.refuses = 99,
        expect![[r#"
        test_thing.a (remote-exec): Connecting to remote host via SSH...
        test_thing.a (remote-exec): Connecting to remote host via SSH...
        test_thing.a (remote-exec): Connecting to remote host via SSH...
        test_thing.a (remote-exec): Connecting to remote host via SSH...
        test_thing.a (remote-exec): Connecting to remote host via SSH...
        ---
        error: remote-exec provisioner error
        timeout - last error: refused
        ---
        connect root@10.0.0.1:22
        connect root@10.0.0.1:22
        connect root@10.0.0.1:22
        connect root@10.0.0.1:22
        connect root@10.0.0.1:22"#]],
    );
}

#[test]
fn machine_that_does_not_answer_is_given_up_at_the_timeout() {
    check(
        &with_argument("timeout = \"1s\""),
        |it| it.is_silent = true,
        expect![[r#"
        test_thing.a (remote-exec): Connecting to remote host via SSH...
        ---
        error: remote-exec provisioner error
        timeout - last error: the first attempt to connect did not end
        ---
        connect root@10.0.0.1:22"#]],
    );
}

#[test]
fn fault_that_no_attempt_can_cure_is_reported_at_once() {
    check(
        SCRIPT,
        |it| it.fault = Some("the private key is encrypted"),
        expect![[r#"
        test_thing.a (remote-exec): Connecting to remote host via SSH...
        ---
        error: remote-exec provisioner error
        the private key is encrypted
        ---
        connect root@10.0.0.1:22"#]],
    );
}

#[test]
fn failed_script_taints_the_object_and_leaves_no_text_behind() {
    let world = check(
        SCRIPT,
        |it| it.fails = true,
        expect![[r##"
        test_thing.a (remote-exec): Connecting to remote host via SSH...
        test_thing.a (remote-exec): Connected!
        ---
        error: remote-exec provisioner error
        error executing "/tmp/terraform_N.sh": Process exited with status 3
        ---
        connect root@10.0.0.1:22
        upload to /tmp/terraform_N.sh: OwnExecutable "#!/bin/sh\necho a\nexit\n"
        run chmod 0700 /tmp/terraform_N.sh
        run /tmp/terraform_N.sh
        upload to /tmp/terraform_N.sh: OwnExecutable ""
        close
        closed"##]],
    );
    assert_eq!(status(&world), Some(Status::Tainted));
}

#[test]
fn lost_connection_taints_the_object() {
    let world = check(
        SCRIPT,
        |it| it.breaks = true,
        expect![[r##"
        test_thing.a (remote-exec): Connecting to remote host via SSH...
        test_thing.a (remote-exec): Connected!
        ---
        error: remote-exec provisioner error
        error executing "/tmp/terraform_N.sh": the connection was lost
        ---
        connect root@10.0.0.1:22
        upload to /tmp/terraform_N.sh: OwnExecutable "#!/bin/sh\necho a\nexit\n"
        run chmod 0700 /tmp/terraform_N.sh
        run /tmp/terraform_N.sh
        upload to /tmp/terraform_N.sh: OwnExecutable ""
        close
        closed"##]],
    );
    assert_eq!(status(&world), Some(Status::Tainted));
}

#[test]
fn failure_is_a_warning_if_the_run_is_to_continue() {
    let continuing = SCRIPT.replace("    inline", "    on_failure = continue\n    inline");
    let world = check(
        &continuing,
        |it| it.fails = true,
        expect![[r##"
        test_thing.a (remote-exec): Connecting to remote host via SSH...
        test_thing.a (remote-exec): Connected!
        ---
        warning: remote-exec provisioner error
        error executing "/tmp/terraform_N.sh": Process exited with status 3
        ---
        connect root@10.0.0.1:22
        upload to /tmp/terraform_N.sh: OwnExecutable "#!/bin/sh\necho a\nexit\n"
        run chmod 0700 /tmp/terraform_N.sh
        run /tmp/terraform_N.sh
        upload to /tmp/terraform_N.sh: OwnExecutable ""
        close
        closed"##]],
    );
    assert_eq!(status(&world), Some(Status::Ready));
}

#[test]
fn interrupt_closes_the_connection_and_taints_the_object() {
    let continuing = SCRIPT.replace("    inline", "    on_failure = continue\n    inline");
    let mut world = world(&continuing);
    let cancel = world.cancel.clone();
    world.network.set(|it| it.interrupts = Some(cancel));
    let diagnostics = world.apply();
    let shown = format!("{}\n{}", diagnostics[0].detail, world.network.log());
    expect![[r##"
        The run was interrupted while a script ran; the connection was closed.
        connect root@10.0.0.1:22
        upload to /tmp/terraform_N.sh: OwnExecutable "#!/bin/sh\necho a\nexit\n"
        run chmod 0700 /tmp/terraform_N.sh
        run /tmp/terraform_N.sh
        closed"##]]
    .assert_eq(&without_numbers(&shown));
    assert_eq!(status(&world), Some(Status::Tainted));
}

#[test]
fn interrupt_ends_the_attempts_to_connect() {
    let mut world = world(SCRIPT);
    let cancel = world.cancel.clone();
    world.network.set(|it| {
        it.refuses = 99;
        it.interrupts = Some(cancel);
    });
    let diagnostics = world.apply();
    expect![[r#"
        interrupted - last error: refused
        connect root@10.0.0.1:22"#]]
    .assert_eq(&format!("{}\n{}", diagnostics[0].detail, world.network.log()));
}

#[test]
fn destroy_time_provisioner_connects_with_the_values_of_its_object() {
    let mut world = world(
        r#"
resource "test_thing" "a" {
  count = 1
  name  = "a"
  provisioner "remote-exec" {
    when   = destroy
    inline = ["bye ${self.id} ${count.index}"]
    connection { host = "${self.name}.example" }
  }
}
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(world.network.log(), "");
    world.mode = state::PlanMode::Destroy;
    world.network.set(|it| it.fails = true);
    assert_eq!(summaries(&world.apply()), "error: remote-exec provisioner error\n");
    assert_eq!(world.state.instances().count(), 1);
    world.network.set(|it| it.fails = false);
    world.network.log();
    assert_eq!(summaries(&world.apply()), "");
    assert!(world.state.is_empty());
    expect![[r##"
        connect root@a.example:22
        upload to /tmp/terraform_N.sh: OwnExecutable "#!/bin/sh\nbye id1 0\n"
        run chmod 0700 /tmp/terraform_N.sh
        run /tmp/terraform_N.sh
        upload to /tmp/terraform_N.sh: OwnExecutable ""
        close
        closed"##]]
    .assert_eq(&without_numbers(&world.network.log()));
}

#[test]
fn arguments_known_only_during_apply_are_checked_then() {
    for (argument, why) in [
        ("type = self.name", "The \"type\" of this connection cannot be used: it is ssh."),
        ("port = length(self.id) * 100000", "a port is a whole number from 0 to 65535."),
        ("agent = length(self.id) > 0", "SSH_AUTH_SOCK is not set."),
        ("target_platform = self.id", "cannot be used: it is unix or windows."),
        ("type = replace(self.id, \"/.*/\", \"winrm\")", "type = \"ssh\" and target_platform"),
    ] {
        let mut world = world(&with_argument(argument));
        let diagnostics = world.apply();
        assert_eq!(summaries(&diagnostics), "error: remote-exec provisioner error\n", "{argument}");
        assert!(diagnostics[0].detail.contains(why), "{}", diagnostics[0].detail);
        assert_eq!(world.network.log(), "", "{argument}");
    }
}
