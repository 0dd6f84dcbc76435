/// The form of the lines to a client.
enum LineForm: UInt8 {
    /// Words separated by spaces, for people and shells; all but prices and trades begins with `#`.
    case plain
    /// The messages of `/v1/stream`, without their numbers.
    case json

    var message: MessageForm { MessageForm(framing: .line, variant: self.rawValue) }
}
