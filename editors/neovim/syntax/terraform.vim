" Only where Neovim has none of its own.

if len(globpath(&runtimepath, 'syntax/' . expand('<sfile>:t'), 0, 1)) == 1
  runtime! syntax/opentofu.vim
endif
