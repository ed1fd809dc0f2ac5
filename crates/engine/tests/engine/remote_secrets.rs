//! Tests of secrets in `remote-exec` provisioners and their connections.

use expect_test::expect;

use crate::{network::Behaviour, remote_provisioners::check_with, world::World};

#[test]
fn output_is_suppressed_if_the_script_contains_a_secret() {
    check_with(
        r#"
variable "s" { sensitive = true }
resource "test_thing" "a" {
  name = "a"
  provisioner "remote-exec" {
    inline = ["login ${var.s}"]
    connection { host = "10.0.0.1" }
  }
}
"#,
        |it| {
            it.set("s", "sensitive-value");
        },
        |it| {
            it.prints = "line 1\nsensitive-value";
            it.fails = true;
        },
        expect![[r##"
            test_thing.a (remote-exec): (output suppressed due to sensitive value in config)
            test_thing.a (remote-exec): (output suppressed due to sensitive value in config)
            test_thing.a (remote-exec): (output suppressed due to sensitive value in config)
            test_thing.a (remote-exec): (output suppressed due to sensitive value in config)
            ---
            error: remote-exec provisioner error
            error executing "/tmp/terraform_N.sh": Process exited with status 3
            ---
            connect root@10.0.0.1:22
            upload to /tmp/terraform_N.sh: OwnExecutable "#!/bin/sh\nlogin sensitive-value\n"
            run chmod 0700 /tmp/terraform_N.sh
            run /tmp/terraform_N.sh
            upload to /tmp/terraform_N.sh: OwnExecutable ""
            close
            closed"##]],
    );
}

#[test]
fn secrets_of_a_connection_are_redacted_in_output_and_errors() {
    let fixture = r#"
variable "s" { sensitive = true }
ephemeral "test_secret" "s" { name = "s" }
resource "test_thing" "a" {
  name = "a"
  provisioner "remote-exec" {
    inline = ["true"]
    connection {
      host     = var.s
      user     = ephemeral.test_secret.s.value
      password = ephemeral.test_secret.s.value
    }
  }
}
"#;
    let prepare = |it: &mut World| {
        it.set("s", "sensitive-value");
    };
    let prints = |it: &mut Behaviour| it.prints = "I am canary-of-s at sensitive-value";
    check_with(
        fixture,
        prepare,
        prints,
        expect![[r##"
        test_thing.a (remote-exec): Connecting to remote host via SSH...
        test_thing.a (remote-exec): Connected!
        test_thing.a (remote-exec): I am (redacted) at (redacted)
        ---

        ---
        connect canary-of-s@sensitive-value:22 password=canary-of-s
        upload to /tmp/terraform_N.sh: OwnExecutable "#!/bin/sh\ntrue\n"
        run chmod 0700 /tmp/terraform_N.sh
        run /tmp/terraform_N.sh
        upload to /tmp/terraform_N.sh: OwnExecutable ""
        close
        closed"##]],
    );
    let fails = |it: &mut Behaviour| it.full = Some("no room for canary-of-s at sensitive-value");
    check_with(
        fixture,
        prepare,
        fails,
        expect![[r##"
        test_thing.a (remote-exec): Connecting to remote host via SSH...
        test_thing.a (remote-exec): Connected!
        ---
        error: remote-exec provisioner error
        Failed to upload script: no room for (redacted) at (redacted)
        ---
        connect canary-of-s@sensitive-value:22 password=canary-of-s
        upload to /tmp/terraform_N.sh: OwnExecutable "#!/bin/sh\ntrue\n"
        close
        closed"##]],
    );
}

#[test]
fn short_secret_of_a_connection_hides_the_whole_output() {
    check_with(
        r#"
variable "pin" { sensitive = true }
resource "test_thing" "a" {
  name = "a"
  provisioner "remote-exec" {
    inline = ["true"]
    connection {
      host     = "h"
      password = var.pin
    }
  }
}
"#,
        |it| {
            it.set("pin", "1234");
        },
        |it| it.prints = "12345",
        expect![[r##"
            test_thing.a (remote-exec): (output suppressed due to sensitive value in config)
            test_thing.a (remote-exec): (output suppressed due to sensitive value in config)
            test_thing.a (remote-exec): (output suppressed due to sensitive value in config)
            ---

            ---
            connect root@h:22 password=1234
            upload to /tmp/terraform_N.sh: OwnExecutable "#!/bin/sh\ntrue\n"
            run chmod 0700 /tmp/terraform_N.sh
            run /tmp/terraform_N.sh
            upload to /tmp/terraform_N.sh: OwnExecutable ""
            close
            closed"##]],
    );
}

#[test]
fn short_secret_of_a_connection_hides_the_reason_of_a_failure() {
    check_with(
        r#"
variable "name" { sensitive = true }
resource "test_thing" "a" {
  name = "a"
  provisioner "remote-exec" {
    inline = ["true"]
    connection {
      host = "h"
      user = var.name
    }
  }
}
"#,
        |it| {
            it.set("name", "joe");
        },
        |it| it.fault = Some("joe is not welcome"),
        expect![[r#"
            test_thing.a (remote-exec): (output suppressed due to sensitive value in config)
            ---
            error: remote-exec provisioner error
            The provisioner failed. The reason is not shown, because a secret in its configuration or its connection is too short to be redacted. Secrets of at least 6 bytes are redacted instead.
            ---
            connect joe@h:22"#]],
    );
}
