// What reads XML, in a module of its own: a package of the older kind keeps its names only where it is imported statically.

export { parseXml, XmlElement } from '@rgrove/parse-xml';
