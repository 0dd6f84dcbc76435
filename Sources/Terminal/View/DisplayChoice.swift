import Market

/// One headline.
package struct DisplayHeadline: Sendable, Equatable {
    /// Wall clock, ns since 1970.
    package var time: Int64
    package var source: String
    package var text: String

    package init(time: Int64, source: String, text: String) {
        self.time = time
        self.source = source
        self.text = text
    }
}

/// What the news pane shows.
package enum DisplayNews: Sendable, Equatable {
    case notAsked
    case asking
    case headlines([DisplayHeadline])
    /// One line that names the cure.
    case failed(String)
}
