/// The URI of a subscription with its match policy.
///
/// URIs of clients are compared by their bytes. Two exact ones of this program are equal, too, if they are canonically
/// equivalent: so are the names of symbols and rooms throughout the relay.
struct WAMPPattern: Hashable {
    let text: String
    let match: WAMPMatch

    static func == (first: WAMPPattern, second: WAMPPattern) -> Bool {
        guard first.match == second.match, first.text == second.text else { return false }
        let isTopic = first.match == .exact && WAMPTopic.isOurs(first.text)
        return isTopic || WAMPText(first.text) == WAMPText(second.text)
    }

    /// Returns whether it matches a topic.
    func matches(_ topic: String) -> Bool {
        switch self.match {
        case .exact: topic == self.text
        case .prefix: topic.utf8.starts(with: self.text.utf8)
        case .wildcard: Self.matches(WAMPURI.components(topic), WAMPURI.components(self.text))
        }
    }

    /// Returns whether it matches any topic that consists of these components and one more.
    func matchesBelow(_ parent: [Substring]) -> Bool {
        let components = WAMPURI.components(self.text)
        switch self.match {
        case .exact: return components.count == parent.count + 1 && components.starts(with: parent)
        case .prefix:
            let start = parent.joined(separator: ".") + "."
            return start.utf8.starts(with: self.text.utf8)
                || self.text.utf8.starts(with: start.utf8) && components.count == parent.count + 1
        case .wildcard:
            return components.count == parent.count + 1 && Self.matches(parent, Array(components.dropLast()))
        }
    }

    /// Returns whether the components of a pattern match those of a topic.
    static func matches(_ topic: [Substring], _ pattern: [Substring]) -> Bool {
        topic.count == pattern.count
            && zip(topic, pattern).allSatisfy { $1.isEmpty || $0.utf8.elementsEqual($1.utf8) }
    }
}
