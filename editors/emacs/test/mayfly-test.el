;;; mayfly-test.el --- Tests of mayfly.el  -*- lexical-binding: t; -*-

;;; Code:

(require 'ert)
(require 'imenu)
(require 'mayfly)

(defmacro mayfly-test--with (text &rest body)
  "Run BODY in a buffer of the mode that holds TEXT."
  (declare (indent 1))
  `(with-temp-buffer
     (insert ,text)
     (mayfly-mode)
     (font-lock-ensure)
     (goto-char (point-min))
     ,@body))

(defun mayfly-test--at (text)
  "Go to the start of TEXT."
  (goto-char (point-min))
  (search-forward text)
  (goto-char (match-beginning 0)))

(defun mayfly-test--face (text)
  "The face at TEXT."
  (mayfly-test--at text)
  (get-text-property (point) 'face))

(defun mayfly-test--kind (text)
  "What the syntax is at TEXT."
  (mayfly-test--at text)
  (let ((state (syntax-ppss)))
    (cond ((nth 4 state) 'comment) ((nth 3 state) 'string) (t 'code))))

(ert-deftest mayfly-test-comments-and-strings ()
  (mayfly-test--with "a = 1 # one \"\nb = 2 // two \"\n/* three\n four */ c = \"x # y\"\nd = 1\n"
    (should (eq (mayfly-test--kind "one") 'comment))
    (should (eq (mayfly-test--kind "two") 'comment))
    (should (eq (mayfly-test--kind "four") 'comment))
    (should (eq (mayfly-test--kind "c =") 'code))
    (should (eq (mayfly-test--kind "# y") 'string))
    (should (eq (mayfly-test--kind "d =") 'code))))

(ert-deftest mayfly-test-templates ()
  (mayfly-test--with "a = \"x ${f(\"in\")} y\"\nb = \"$${\"\nc = \"${\n  g(\"}\")\n} z\"\nd = \"no end\ne = 1\n"
    (should (eq (mayfly-test--kind "y\"") 'string))
    (should (eq (mayfly-test--kind "b =") 'code))
    (should (eq (mayfly-test--kind "c =") 'code))
    (should (eq (mayfly-test--kind "z\"") 'string))
    (should (eq (mayfly-test--kind "d =") 'code))))

(ert-deftest mayfly-test-heredocs ()
  (mayfly-test--with "a = <<-END\n  it's \"one # no comment\n  ENDLESS\n  END\nb = 1\nc = <<X\nX\nd = 1\n"
    (should (eq (mayfly-test--kind "one") 'string))
    (should (eq (mayfly-test--kind "ENDLESS") 'string))
    (should (eq (mayfly-test--kind "b =") 'code))
    (should (eq (mayfly-test--kind "d =") 'code))))

(ert-deftest mayfly-test-a-heredoc-that-is-edited-stays-one ()
  (mayfly-test--with "a = <<END\none\ntwo\nEND\nb = 1\n"
    (should (eq (mayfly-test--kind "b =") 'code))
    (mayfly-test--at "two")
    (insert "\"")
    (should (eq (mayfly-test--kind "two") 'string))
    (should (eq (mayfly-test--kind "b =") 'code))
    (mayfly-test--at "END\nb")
    (insert "x")
    (should (eq (mayfly-test--kind "b =") 'string))))

;; Emacs asks for the syntax piece by piece, as far as one looks.
(ert-deftest mayfly-test-pieces-end-anywhere ()
  (let* ((long (apply #'concat (make-list 200 "some \\\"text ${f(\"x\")} ")))
         (text (concat "a = \"" long "\"\n/* " long "\n */\nb = <<END\n" long "\nEND\n# " long "\nc = 1\n"))
         (kinds (lambda (step)
                  (with-temp-buffer
                    (insert text)
                    (mayfly-mode)
                    (let ((all nil) (position 1))
                      (while (< position (point-max))
                        (syntax-propertize position)
                        (setq position (+ position step)))
                      (dotimes (i (/ (point-max) 10))
                        (let ((state (syntax-ppss (1+ (* 10 i)))))
                          (push (cond ((nth 4 state) 'comment) ((nth 3 state) 'string) (t 'code)) all)))
                      (mayfly-test--at "c = 1")
                      (should (not (nth 8 (syntax-ppss))))
                      all)))))
    (should (equal (funcall kinds 7) (funcall kinds 1000000)))
    (should (equal (funcall kinds 501) (funcall kinds 1000000)))))

(ert-deftest mayfly-test-colours ()
  (mayfly-test--with "resource \"a\" \"b\" {\n  count = var.n\n  x = upper(true)\n  ebs {\n  }\n  type = list(string)\n}\n"
    (should (eq (mayfly-test--face "resource") 'font-lock-keyword-face))
    (should (eq (mayfly-test--face "\"b\"") 'font-lock-string-face))
    (should (eq (mayfly-test--face "count") 'font-lock-variable-name-face))
    (should (eq (mayfly-test--face "var") 'font-lock-builtin-face))
    (should (eq (mayfly-test--face "upper") 'font-lock-function-name-face))
    (should (eq (mayfly-test--face "true") 'font-lock-constant-face))
    (should (eq (mayfly-test--face "ebs") 'font-lock-type-face))
    (should (eq (mayfly-test--face "list") 'font-lock-type-face))
    (should (eq (mayfly-test--face "string") 'font-lock-type-face))))

(ert-deftest mayfly-test-indentation ()
  (let ((text "a \"b\" {\n  c = [\n    1,\n    { d = 1 }\n  ]\n  e = <<X\n not touched {\nX\n  f = ({\n    g = \"{\"\n  })\n}\n"))
    (mayfly-test--with (replace-regexp-in-string "^ +\\([^n ]\\)" "\\1" text)
      (indent-region (point-min) (point-max))
      (should (equal (buffer-string)
                     (replace-regexp-in-string "f = ({\n    g = \"{\"\n  })" "f = ({\n      g = \"{\"\n  })" text))))))

(ert-deftest mayfly-test-imenu-and-modes ()
  (mayfly-test--with "resource \"a\" \"b\" {\n}\nlocals {\n}\n"
    (should (equal (mapcar #'car (cdr (imenu--make-index-alist t))) '("resource \"a\" \"b\"" "locals"))))
  (dolist (case '(("a.tf" . mayfly-mode) ("a.tofu" . mayfly-mode) ("a.tfvars" . mayfly-vars-mode)))
    (should (eq (assoc-default (car case) auto-mode-alist #'string-match-p) (cdr case)))))

;;; With a server: only where MAYFLY names one.

(defvar eglot-sync-connect)
(defvar eglot-connect-timeout)
(declare-function eglot-current-server "eglot")
(declare-function jsonrpc--process "jsonrpc")
(declare-function flymake-diagnostics "flymake")
(declare-function flymake-diagnostic-text "flymake")
(declare-function flymake-diagnostic-beg "flymake")
(declare-function flymake-diagnostic-end "flymake")

(defun mayfly-test--wait (what condition)
  "Wait until CONDITION holds, for a minute; WHAT is for the message."
  (let ((deadline (+ (float-time) 60)))
    (while (not (funcall condition))
      (when (> (float-time) deadline)
        (ert-fail (format "%s did not happen within 60 s; diagnostics: %S; the end of the conversation: %s" what
                          (mapcar #'flymake-diagnostic-text (flymake-diagnostics))
                          (mayfly-test--conversation))))
      (accept-process-output nil 0.05)
      (sit-for 0.01))))

(defun mayfly-test--conversation ()
  "The last that was said between eglot and the server.
What the server prints beside its messages shows here only."
  (let ((server (eglot-current-server)))
    (if (not server)
        "none"
      (with-current-buffer (process-buffer (jsonrpc--process server))
        (buffer-substring-no-properties (max (point-min) (- (point-max) 2000)) (point-max))))))

(defun mayfly-test--errors ()
  "The errors shown: text of the diagnostic and of the buffer."
  (mapcar (lambda (it)
            (cons (flymake-diagnostic-text it)
                  (buffer-substring-no-properties (flymake-diagnostic-beg it) (flymake-diagnostic-end it))))
          (flymake-diagnostics)))

(ert-deftest mayfly-test-a-misuse-is-shown-and-goes ()
  (skip-unless (getenv "MAYFLY"))
  (require 'eglot)
  (require 'flymake)
  (let* ((folder (make-temp-file "mayfly" t))
         (mayfly-server-command (list (getenv "MAYFLY") "lsp"))
         (eglot-sync-connect 30))
    (unwind-protect
        (progn
          (copy-directory (expand-file-name "secrets" (getenv "MAYFLY_EXAMPLES")) (file-name-as-directory folder))
          (with-current-buffer (find-file-noselect (expand-file-name "secrets/store/main.tf" folder))
            (eglot-ensure)
            (run-hooks 'post-command-hook)
            (mayfly-test--wait "the connection" (lambda () (eglot-current-server)))
            (flymake-start)
            (goto-char (point-max))
            (undo-boundary)
            (insert "\nresource \"terraform_data\" \"kept\" {\n  input = module.secret_management.secrets\n}\n")
            ;; Batch mode has no idle time, in which eglot would do it.
            (eglot--signal-textDocument/didChange)
            (mayfly-test--wait
             "the error"
             (lambda ()
               (cl-some (lambda (it)
                          (and (string-match-p "Invalid use of an ephemeral value" (car it))
                               (equal (cdr it) "module.secret_management.secrets")))
                        (mayfly-test--errors))))
            (primitive-undo 1 buffer-undo-list)
            (eglot--signal-textDocument/didChange)
            (mayfly-test--wait "the error's end" (lambda () (null (mayfly-test--errors))))
            (set-buffer-modified-p nil)
            (eglot-shutdown (eglot-current-server))))
      (delete-directory folder t))))

;;; mayfly-test.el ends here
