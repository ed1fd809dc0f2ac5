// Makes the .vsix: a zip with the extension, a manifest of its own and the types of its parts. The same files give the same
// bytes. (The usual tool, vsce, does the same and more, with two hundred packages.)
//
// The licences of what is bundled go with it.

import { createWriteStream, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import yazl from "yazl";

const root = new URL("../", import.meta.url);
const packageJson = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));

const files = new Set([
    "package.json",
    "README.md",
    "language-configuration.json",
    "dist/extension.js",
    ...packageJson.contributes.grammars.map(({ path }) => path.replace(/^\.\//, "")),
]);

/** The licence of each package that the bundle has a file of. */
function bundledLicences() {
    const { inputs } = JSON.parse(readFileSync(new URL("dist/meta.json", root), "utf8"));
    const folders = Object.keys(inputs).flatMap((input) => input.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+\//) ?? []);
    const licences = [...new Set(folders)].sort().map((folder) => {
        const url = new URL(folder, root);
        const { name, version, license } = JSON.parse(readFileSync(new URL("package.json", url), "utf8"));
        const file = readdirSync(url).find((it) => /^licen[cs]e/i.test(it));
        if (file === undefined) {
            throw new Error(`${name} comes without its licence`);
        }
        return `${name} ${version} (${license})\n\n${readFileSync(new URL(file, url), "utf8").trim()}\n`;
    });
    return licences.join(`\n${"-".repeat(80)}\n\n`);
}

function escape(text) {
    const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
    return text.replace(/[&<>"]/g, (c) => entities[c]);
}

const { name, publisher, version, displayName, description, categories, keywords, engines } = packageJson;

const vsixManifest = `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${escape(name)}" Version="${escape(version)}" Publisher="${escape(publisher)}"/>
    <DisplayName>${escape(displayName)}</DisplayName>
    <Description xml:space="preserve">${escape(description)}</Description>
    <Tags>${escape(keywords.join(","))}</Tags>
    <Categories>${escape(categories.join(","))}</Categories>
    <GalleryFlags>Public</GalleryFlags>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${escape(engines.vscode)}"/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionDependencies" Value=""/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionPack" Value=""/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
      <Property Id="Microsoft.VisualStudio.Code.ExecutesCode" Value="true"/>
    </Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code"/>
  </Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
`;

const contentTypes = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension=".json" ContentType="application/json"/>
  <Default Extension=".js" ContentType="application/javascript"/>
  <Default Extension=".md" ContentType="text/markdown"/>
  <Default Extension=".vsixmanifest" ContentType="text/xml"/>
  <Default Extension=".txt" ContentType="text/plain"/>
</Types>
`;

const options = { mtime: new Date(1980, 0, 1), mode: 0o100644 };
const zip = new yazl.ZipFile();
zip.addBuffer(Buffer.from(vsixManifest), "extension.vsixmanifest", options);
zip.addBuffer(Buffer.from(contentTypes), "[Content_Types].xml", options);
zip.addFile(fileURLToPath(new URL("../../LICENSE", root)), "extension/LICENSE.txt", options);
zip.addBuffer(Buffer.from(bundledLicences()), "extension/dist/licences.txt", options);
for (const file of files) {
    zip.addBuffer(readFileSync(new URL(file, root)), `extension/${file}`, options);
}
zip.end();
const target = `${name}-${version}.vsix`;
zip.outputStream
    .pipe(createWriteStream(new URL(target, root)))
    .on("close", () => console.log(`wrote ${fileURLToPath(new URL(target, root))}`));
