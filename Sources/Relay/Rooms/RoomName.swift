import Market

/// The rule for the names of rooms. It is that of symbols, so that every symbol has a room, but the only blank is the
/// space.
///
/// Two names are one if they are canonically equivalent, as Swift's strings are equal. The first spelling is the room's
/// name.
enum RoomName {
    /// The room of a client that names no other.
    static let usual = "lobby"

    /// Returns whether the name may be a room.
    static func isValid(_ name: String) -> Bool { Self.fault(in: name) == nil }

    /// Returns the fault of a name; `nil` if it may be a room.
    static func fault(in name: String) -> RoomFault? {
        Self.words(of: name).map { .badRoom($0) }
    }

    /// Returns the fault of a room's or a user's name by the rule of symbols and blanks, as the end of a sentence.
    static func words(of name: String) -> String? {
        if let fault = SymbolName.fault(in: name) { return fault.words }
        // Some of the other blanks are equivalent, and topics of WAMP percent-encode blanks by their bytes.
        let hasOther = name.unicodeScalars.contains { $0 != " " && $0.isShownBlank }
        return hasOther ? "has a blank that is no space" : nil
    }
}
