// XML parser, in a module of its own: a CommonJS package keeps its named exports only in a static import.

export { parseXml, XmlElement } from '@rgrove/parse-xml';
