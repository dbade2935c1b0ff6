"""A page taken apart."""

from html.parser import HTMLParser


class Document(HTMLParser):
    """The elements of a document with their attributes, and its text."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.text = [], ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)

    def handle_data(self, data):
        self.text += data.replace("\u00a0", " ")

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]
