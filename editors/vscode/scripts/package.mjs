// Makes the .vsix: a zip with the extension, a manifest of its own and the types of its parts. The same files give the same
// bytes. (The usual tool, vsce, does the same and more, with two hundred packages.)

import { createWriteStream, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import yazl from "yazl";

const root = new URL("../", import.meta.url);
const packageJson = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));

const files = new Set([
    "package.json",
    "README.md",
    "LICENSE",
    "language-configuration.json",
    "dist/extension.js",
    ...packageJson.contributes.grammars.map(({ path }) => path.replace(/^\.\//, "")),
]);

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
    <License>extension/LICENSE</License>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code"/>
  </Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE" Addressable="true"/>
  </Assets>
</PackageManifest>
`;

const contentTypes = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension=".json" ContentType="application/json"/>
  <Default Extension=".js" ContentType="application/javascript"/>
  <Default Extension=".md" ContentType="text/markdown"/>
  <Default Extension=".vsixmanifest" ContentType="text/xml"/>
  <Override PartName="/extension/LICENSE" ContentType="text/plain"/>
</Types>
`;

const options = { mtime: new Date(1980, 0, 1), mode: 0o100644 };
const zip = new yazl.ZipFile();
zip.addBuffer(Buffer.from(vsixManifest), "extension.vsixmanifest", options);
zip.addBuffer(Buffer.from(contentTypes), "[Content_Types].xml", options);
for (const file of files) {
    zip.addBuffer(readFileSync(new URL(file, root)), `extension/${file}`, options);
}
zip.end();
const target = `${name}-${version}.vsix`;
zip.outputStream
    .pipe(createWriteStream(new URL(target, root)))
    .on("close", () => console.log(`wrote ${fileURLToPath(new URL(target, root))}`));
