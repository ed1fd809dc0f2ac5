-- Only where Neovim has none of its own.

if #vim.api.nvim_get_runtime_file("ftplugin/terraform.vim", true) == 0 then
  vim.cmd("runtime! ftplugin/opentofu.lua")
end
