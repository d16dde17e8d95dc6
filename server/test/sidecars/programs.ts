/** Sidecars in the form in which programs write them. */

const rdf = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"';

function sheet(toolkit: string, attributes: string, inside = ''): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="${toolkit}">
 <rdf:RDF ${rdf}>
  <rdf:Description rdf:about="" ${attributes}>${inside}</rdf:Description>
 </rdf:RDF>
</x:xmpmeta>`;
}

const alt = (name: string, text: string) =>
  `<${name}><rdf:Alt><rdf:li xml:lang="x-default">${text}</rdf:li></rdf:Alt></${name}>`;
const bag = (name: string, ...items: string[]) =>
  `<${name}><rdf:Bag>${items.map((item) => `<rdf:li>${item}</rdf:li>`).join('')}</rdf:Bag></${name}>`;
const seq = (name: string, ...items: string[]) => bag(name, ...items).replaceAll('rdf:Bag', 'rdf:Seq');

/** Lightroom Classic: attributes for simple properties, hierarchies with `|`, regions as structures. */
export const lightroom = sheet(
  'Adobe XMP Core 7.0-c000',
  `xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"
   xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:lr="http://ns.adobe.com/lightroom/1.0/"
   xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/"
   xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#"
   xmp:Rating="4" xmp:Label="Red" photoshop:City="Bergen" photoshop:Country="Norway"
   photoshop:DateCreated="2024-05-06T07:08:09+02:00" photoshop:Credit="Fjord Agency"
   exif:GPSLatitude="60,23.5800N" exif:GPSLongitude="5,19.4400E"`,
  alt('dc:title', 'Bryggen at dawn') +
    alt('dc:description', 'The wharf &amp; the harbour') +
    alt('dc:rights', '© Mara Lind') +
    seq('dc:creator', 'Mara Lind') +
    bag('dc:subject', 'wharf', 'Norway') +
    bag('lr:hierarchicalSubject', 'Places|Norway|Bergen', 'wharf') +
    `<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList><rdf:Bag>
      <rdf:li><rdf:Description mwg-rs:Type="Focus"><mwg-rs:Area stArea:x="0.1"/></rdf:Description></rdf:li>
      <rdf:li><rdf:Description mwg-rs:Name="Rex" mwg-rs:Type="Pet"/></rdf:li>
      <rdf:li><rdf:Description mwg-rs:Name="Anna" mwg-rs:Type="Face"/></rdf:li>
    </rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>`,
);

/** darktable: labels are numbers, and hierarchies are in the namespace of Lightroom. */
export const darktable = sheet(
  'XMP Core 4.4.0-Exiv2',
  `xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:darktable="http://darktable.sf.net/"
   xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:lr="http://ns.adobe.com/lightroom/1.0/"
   xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:DateTimeOriginal="2023:07:08 09:10:11.000"
   xmp:Rating="-1" darktable:xmp_version="5" darktable:auto_presets_applied="1"`,
  alt('dc:title', 'Rejected') +
    seq('darktable:colorlabels', '0', '3') +
    bag('dc:subject', 'darktable', 'Alps') +
    bag('lr:hierarchicalSubject', 'darktable|format', 'Alps'),
);

/** digiKam: the tree of tags with `/`, the label as a number, and faces in the form of Microsoft, too. */
export const digikam = sheet(
  'XMP Core 4.4.0-Exiv2',
  `xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:digiKam="http://www.digikam.org/ns/1.0/"
   xmlns:MicrosoftPhoto="http://ns.microsoft.com/photo/1.0/" xmlns:MP="http://ns.microsoft.com/photo/1.2/"
   xmlns:MPRI="http://ns.microsoft.com/photo/1.2/t/RegionInfo#" xmlns:MPReg="http://ns.microsoft.com/photo/1.2/t/Region#"
   digiKam:ColorLabel="4" digiKam:PickLabel="3" xmp:Rating="5" MicrosoftPhoto:Rating="99"`,
  seq('digiKam:TagsList', 'People/Bea', 'Animals/Dogs') +
    `<MP:RegionInfo rdf:parseType="Resource"><MPRI:Regions><rdf:Bag>
      <rdf:li MPReg:PersonDisplayName="Carl" MPReg:Rectangle="0.1,0.1,0.2,0.2"/></rdf:Bag></MPRI:Regions></MP:RegionInfo>`,
);

/** Immich: written by ExifTool, with the tags in the namespace of digiKam. */
export const immich = sheet(
  'Image::ExifTool 13.00',
  `xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:digiKam="http://www.digikam.org/ns/1.0/"
   xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:tiff="http://ns.adobe.com/tiff/1.0/"
   xmlns:xmp="http://ns.adobe.com/xap/1.0/"`,
  alt('dc:description', 'From the ferry') +
    alt('tiff:ImageDescription', 'From the ferry') +
    seq('digiKam:TagsList', 'Trips/Ferry') +
    `<exif:DateTimeOriginal>2022-08-09T10:11:12+01:00</exif:DateTimeOriginal>
     <exif:GPSLatitude>53,20.5N</exif:GPSLatitude><exif:GPSLongitude>6,15.25W</exif:GPSLongitude>
     <xmp:Rating>2</xmp:Rating>`,
);

/** PhotoPrism reads and writes the common properties of Dublin Core and IPTC. */
export const photoprism = sheet(
  'PhotoPrism',
  `xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"
   xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"`,
  alt('dc:title', 'Night Snow') +
    alt('dc:description', 'Snow at the station') +
    bag('dc:subject', 'snow', 'station') +
    bag('Iptc4xmpExt:PersonInImage', 'Dora') +
    seq('dc:creator', 'Eve Holt') +
    alt('dc:rights', 'All rights reserved'),
);

/** An entity that names a file of the machine. */
export const withEntity = sheet(
  'x',
  'xmlns:dc="http://purl.org/dc/elements/1.1/"',
  alt('dc:title', '&e;'),
).replace('<x:xmpmeta', '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>\n<x:xmpmeta');

/** A sidecar with a title. */
export function titled(title: string): string {
  return sheet('x', 'xmlns:dc="http://purl.org/dc/elements/1.1/"', alt('dc:title', title));
}
