;;; mayfly.el --- OpenTofu with the language server Mayfly  -*- lexical-binding: t; -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "27.1"))
;; Keywords: languages

;;; Commentary:

;; `mayfly-mode' for `.tf' and `.tofu', `mayfly-vars-mode' for `.tfvars', and what eglot has to know
;; of the language server `mayfly lsp'.  Nothing else is needed:
;;
;;   (add-to-list 'load-path "…/editors/emacs")
;;   (require 'mayfly)
;;   (add-hook 'mayfly-mode-hook #'eglot-ensure)
;;
;; Who prefers `terraform-mode' loads it after this file; eglot starts the same server there.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'mayfly-words)

(defgroup mayfly nil
  "OpenTofu with the language server Mayfly."
  :group 'languages)

(defcustom mayfly-server-command '("mayfly" "lsp")
  "The language server and its arguments."
  :type '(repeat string))

(defcustom mayfly-settings
  '(:inlayHints (:marks t :types t :unknown t) :codeLens (:references t))
  "What the server is told when it starts; false is `:json-false'."
  :type 'plist)

(defcustom mayfly-indent-offset 2
  "Columns for each open bracket."
  :type 'integer
  :safe #'integerp)

;;; Syntax

(defvar mayfly-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "< b" table)
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23" table)
    (modify-syntax-entry ?\n "> b" table)
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?- "_" table)
    (modify-syntax-entry ?' "." table)
    (modify-syntax-entry ?\" "\"" table)
    (dolist (operator '(?= ?< ?> ?! ?? ?: ?& ?| ?+ ?% ?$ ?. ?,))
      (modify-syntax-entry operator "." table))
    table)
  "Syntax of HCL.  What a table cannot say is in `mayfly--propertize'.")

(defconst mayfly--name "[[:alpha:]_][[:alnum:]_-]*")

(defconst mayfly--heredoc (format "<<-?\\(%s\\)\\(\n\\)" mayfly--name))

(defun mayfly--mark (position syntax)
  "Give the character at POSITION another SYNTAX."
  (put-text-property position (1+ position) 'syntax-table (string-to-syntax syntax)))

(defun mayfly--propertize (start end)
  "Mark heredocs, and quotes inside `${}' of strings, from START to END."
  (goto-char start)
  (mayfly--finish-string (syntax-ppss start))
  (while (and (< (point) end)
              (re-search-forward (concat mayfly--heredoc "\\|\"\\|#\\|//\\|/\\*") end t))
    (let ((match (match-string 0)))
      (cond
       ((string= match "\"") (mayfly--skip-string))
       ((string= match "/*") (unless (search-forward "*/" nil t) (goto-char (point-max))))
       ((member match '("#" "//")) (end-of-line))
       (t (mayfly--skip-heredoc (match-string 1) (match-beginning 2)))))))

(defun mayfly--finish-string (state)
  "Go behind the string or comment that point is in by STATE."
  (let ((beginning (nth 8 state)))
    (cond
     ((eq (nth 3 state) t)
      ;; A heredoc is a string from the end of the line that has its marker.
      (save-excursion
        (goto-char beginning)
        (beginning-of-line)
        (re-search-forward mayfly--heredoc))
      (mayfly--skip-heredoc (match-string 1) beginning))
     ((nth 3 state)
      (goto-char (1+ beginning))
      (mayfly--skip-string))
     ((integerp (nth 7 state)) (end-of-line))
     ((nth 4 state)
      (unless (search-forward "*/" nil t) (goto-char (point-max)))))))

(defun mayfly--skip-heredoc (marker newline)
  "Make a string of the heredoc with this MARKER.
Its text begins behind NEWLINE."
  (mayfly--mark newline "|")
  (if (re-search-forward (format "^[ \t]*%s[ \t]*$" (regexp-quote marker)) nil t)
      (mayfly--mark (1- (point)) "|")
    (goto-char (point-max))))

(defun mayfly--skip-string ()
  "Go behind the string whose first quote is before point.
The quotes inside it are none.  It ends with its line, unless that is
inside a `${'."
  (let ((open nil))
    (catch 'end
      (while (re-search-forward "[\\\"{}\n]" nil t)
        (pcase (char-before)
          (?\\ (when (and (not (eobp)) (not (car open))) (forward-char)))
          (?\n (unless open (throw 'end (backward-char))))
          (?\" (cond ((null open) (throw 'end nil))
                     (t (mayfly--mark (1- (point)) ".")
                        ;; `t' is a `${', `quote' a string inside it.
                        (if (eq (car open) 'quote) (pop open) (push 'quote open)))))
          (?\{ (cond ((eq (car open) t) (push t open))
                     ((mayfly--opens-template) (push t open))))
          (?\} (when (eq (car open) t) (pop open))))))))

(defun mayfly--opens-template ()
  "Whether the brace before point is that of `${' or `%{'.
That of `$${' or `%%{' is none."
  (let ((sign (char-before (1- (point)))))
    (and (memq sign '(?$ ?%))
         (not (eq (char-before (- (point) 2)) sign)))))

;;; Colours

(defun mayfly--words (words)
  "A regular expression for WORDS that are not part of a name or a step."
  (concat "\\(?:^\\|[^.[:alnum:]_-]\\)" (regexp-opt words t) "\\_>"))

(defconst mayfly-font-lock-keywords
  `((,(format "^[ \t]*%s\\(?:[ \t]+\\(?:\"[^\"\n]*\"\\|%s\\)\\)*[ \t]*{"
              (regexp-opt (append mayfly-words-block-types mayfly-words-nested-block-types) t)
              mayfly--name)
     1 font-lock-keyword-face)
    (,(format "^[ \t]*\\(%s\\)\\(?:[ \t]+\"[^\"\n]*\"\\)*[ \t]*{" mayfly--name)
     1 font-lock-type-face)
    (,(format "\\(?:^\\|[{,]\\)[ \t]*\\(%s\\)[ \t]*=\\(?:[^=>]\\|$\\)" mayfly--name)
     1 font-lock-variable-name-face)
    (,(concat (mayfly--words mayfly-words-references) "[.[]") 1 font-lock-builtin-face)
    (,(concat (mayfly--words mayfly-words-type-constructors) "[ \t]*(") 1 font-lock-type-face)
    (,(concat (mayfly--words mayfly-words-functions) "[ \t]*(") 1 font-lock-function-name-face)
    (,(concat "\\_<type[ \t]*=[ \t]*" (regexp-opt mayfly-words-primitive-types t) "\\_>")
     1 font-lock-type-face)
    (,(concat "[(,=][ \t]*" (regexp-opt mayfly-words-primitive-types t) "[ \t]*\\(?:[),]\\|$\\)")
     1 font-lock-type-face)
    (,(mayfly--words '("true" "false" "null")) 1 font-lock-constant-face)
    (,(mayfly--words '("for" "in" "if")) 1 font-lock-keyword-face)
    ("[$%]{~?[^}\n]*}" 0 font-lock-variable-name-face prepend))
  "What `mayfly-mode' colours.")

;;; Indentation

(defun mayfly-indent-line ()
  "Indent by the number of open brackets.
Inside strings and heredocs, leave the line as it is."
  (interactive)
  (let ((state (save-excursion (syntax-ppss (line-beginning-position)))))
    (if (nth 3 state)
        'noindent
      (let ((column (* mayfly-indent-offset (max 0 (- (car state) (mayfly--closing-brackets))))))
        (if (<= (current-column) (current-indentation))
            (indent-line-to column)
          (save-excursion (indent-line-to column)))))))

(defun mayfly--closing-brackets ()
  "How many brackets the line closes before anything else."
  (save-excursion
    (back-to-indentation)
    (skip-chars-forward "]})")
    (- (point) (save-excursion (back-to-indentation) (point)))))

;;; Modes

;;;###autoload
(define-derived-mode mayfly-mode prog-mode "OpenTofu"
  "Major mode for OpenTofu."
  (setq-local comment-start "# ")
  (setq-local comment-end "")
  (setq-local comment-start-skip "\\(?:#+\\|//+\\|/\\*+\\)[ \t]*")
  (setq-local indent-tabs-mode nil)
  (setq-local indent-line-function #'mayfly-indent-line)
  (setq-local electric-indent-chars (append '(?\} ?\] ?\)) electric-indent-chars))
  (setq-local syntax-propertize-function #'mayfly--propertize)
  (setq-local font-lock-defaults '(mayfly-font-lock-keywords))
  (setq-local font-lock-multiline t)
  (setq-local imenu-generic-expression
              `((nil ,(format "^\\(%s\\(?:[ \t]+\\(?:\"[^\"\n]*\"\\|%s\\)\\)*\\)[ \t]*{"
                              (regexp-opt mayfly-words-block-types)
                              mayfly--name)
                     1))))

;;;###autoload
(define-derived-mode mayfly-vars-mode mayfly-mode "OpenTofu Vars"
  "Major mode for the values of variables of OpenTofu.")

;;;###autoload
(progn
  (add-to-list 'auto-mode-alist '("\\.\\(?:tf\\|tofu\\)\\'" . mayfly-mode))
  (add-to-list 'auto-mode-alist '("\\.tfvars\\'" . mayfly-vars-mode)))

;;; Server

(defvar mayfly-status ""
  "What the server said last of itself; empty is well.")

(defun mayfly--contact (&rest _)
  "How eglot starts the server."
  (append mayfly-server-command (list :initializationOptions mayfly-settings)))

(defvar eglot-server-programs)

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs
               '(((mayfly-vars-mode :language-id "opentofu-vars")
                  (mayfly-mode :language-id "opentofu")
                  (terraform-mode :language-id "terraform"))
                 . mayfly--contact))
  (cl-defmethod eglot-handle-notification
    (_server (_method (eql mayfly/status)) &key message &allow-other-keys)
    "Remember MESSAGE.
The server also tells it as an ordinary message, with the details."
    (setq mayfly-status message)))

(provide 'mayfly)
;;; mayfly.el ends here
