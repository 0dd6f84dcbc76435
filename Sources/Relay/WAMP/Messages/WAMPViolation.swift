/// A message that the protocol does not allow; it ends the session.
struct WAMPViolation: Error, Equatable {
    /// One line for people.
    var words: String

    init(_ words: String) { self.words = words }
}
