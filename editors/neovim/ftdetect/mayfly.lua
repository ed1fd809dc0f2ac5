-- `.tofu` is not known to Neovim, and an empty `.tf`, or one that begins with a comment, would be TinyFugue's.

local extensions = { tf = "terraform", tofu = "opentofu", tfvars = "terraform-vars" }

if vim.fn.has("nvim-0.8") == 1 then
  vim.filetype.add({ extension = extensions })
else
  for extension, filetype in pairs(extensions) do
    local command = "autocmd filetypedetect BufNewFile,BufRead *.%s setlocal filetype=%s"
    vim.cmd(command:format(extension, filetype))
  end
end
