" Colours that need no language server: enough to read by. Where the server has semantic tokens, they come on top.

if exists('b:current_syntax')
  finish
endif

syn iskeyword @,48-57,_,-,192-255

syn cluster mayflyExpression contains=mayflyString,mayflyHeredoc,mayflyNumber,mayflyLiteral,mayflyKeyword,
      \mayflyReference,mayflyStep,mayflyFunction,mayflyType,mayflyComment,mayflyBraces

" A block's header, up to its brace; an attribute's name, or an object's key.
syn match mayflyHeader /^\s*[[:alpha:]_][[:alnum:]_-]*\%(\s\+\%("[^"]*"\|[[:alpha:]_][[:alnum:]_-]*\)\)*\s*{/
      \ contains=mayflyBlockType,mayflyLabel
syn match mayflyBlockType /^\s*[[:alpha:]_][[:alnum:]_-]*/ contained nextgroup=mayflyLabel skipwhite
syn match mayflyLabel /"[^"]*"/ contained
syn match mayflyAttribute /\%(^\|[{,]\)\@<=\s*[[:alpha:]_][[:alnum:]_-]*\ze\s*=[^=>]/

syn region mayflyBraces matchgroup=NONE start=/[[({]/ end=/[])}]/ contained contains=@mayflyExpression,mayflyAttribute
syn match mayflyNumber /[[:alnum:]_]\@1<!\d\+\%(\.\d\+\)\=\%([eE][+-]\=\d\+\)\=/
syn keyword mayflyLiteral true false null
syn match mayflyKeyword /\.\@<!\<\%(for\|in\|if\)\>/
syn match mayflyReference /\.\@<!\<\%(var\|local\|module\|data\|ephemeral\|each\|count\|self\|path\|terraform\|tofu\)\ze[.[]/
syn match mayflyStep /\.\@<=[[:alpha:]_][[:alnum:]_-]*/
syn match mayflyFunction /\<[[:alpha:]_][[:alnum:]_:-]*\ze\s*(/
syn match mayflyType /\%(type\s*=\s*.*\)\@80<=\<\%(string\|number\|bool\|any\)\>/

syn match mayflyComment /\%(#\|\/\/\).*$/ contains=@Spell
syn region mayflyComment start=/\/\*/ end=/\*\// contains=@Spell

syn region mayflyString start=/"/ skip=/\\"/ end=/"\|$/ contains=mayflyEscape,mayflyInterpolation,@Spell
syn region mayflyHeredoc start=/<<-\=\z([[:alpha:]_][[:alnum:]_-]*\)$/ end=/^\s*\z1\s*$/ contains=mayflyTemplateEscape,mayflyInterpolation
syn match mayflyEscape /\\\%([nrt"\\]\|u\x\{4}\|U\x\{8}\)/ contained
syn match mayflyTemplateEscape /\$\${\|%%{/ contained containedin=mayflyString
syn region mayflyInterpolation matchgroup=mayflyDelimiter start=/[$%]{\~\=/ end=/\~\=}/ contained
      \ contains=@mayflyExpression,mayflyDirective
syn keyword mayflyDirective contained else endif endfor

hi def link mayflyBlockType Statement
hi def link mayflyLabel Identifier
hi def link mayflyAttribute Type
hi def link mayflyNumber Number
hi def link mayflyLiteral Boolean
hi def link mayflyKeyword Repeat
hi def link mayflyDirective Repeat
hi def link mayflyReference Special
hi def link mayflyStep Normal
hi def link mayflyFunction Function
hi def link mayflyType StorageClass
hi def link mayflyComment Comment
hi def link mayflyString String
hi def link mayflyHeredoc String
hi def link mayflyEscape SpecialChar
hi def link mayflyTemplateEscape SpecialChar
hi def link mayflyDelimiter Delimiter

let b:current_syntax = 'opentofu'
