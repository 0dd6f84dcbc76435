/// The elements of a client's message, read in order.
struct WAMPFields {
    private var rest: ArraySlice<WAMPValue>

    init(_ elements: [WAMPValue]) { self.rest = elements[...] }

    private mutating func next(_ name: String) throws(WAMPViolation) -> WAMPValue {
        guard let value = self.rest.popFirst() else { throw WAMPViolation("\(name) is missing") }
        return value
    }

    mutating func id(_ name: String) throws(WAMPViolation) -> UInt64 {
        guard let id = try self.next(name).id else { throw WAMPViolation("\(name) is not an id from 1 to 2^53") }
        return id
    }

    mutating func code() throws(WAMPViolation) -> WAMPCode {
        guard let code = try self.next("the message's code").integer.flatMap(WAMPCode.init) else {
            throw WAMPViolation("unknown message code")
        }
        return code
    }

    mutating func text(_ name: String) throws(WAMPViolation) -> String {
        guard let text = try self.next(name).text else { throw WAMPViolation("\(name) is not a text") }
        return text
    }

    mutating func dictionary(_ name: String) throws(WAMPViolation) -> WAMPDictionary {
        guard let dictionary = try self.next(name).dictionary else { throw WAMPViolation("\(name) is no dictionary") }
        return dictionary
    }

    /// Reads the arguments at the end of a message.
    mutating func payload() throws(WAMPViolation) -> WAMPPayload {
        var payload = WAMPPayload()
        if let value = self.rest.popFirst() {
            guard let arguments = value.list else { throw WAMPViolation("Arguments is no list") }
            payload.arguments = arguments
        }
        if let value = self.rest.popFirst() {
            guard let keywords = value.dictionary else { throw WAMPViolation("ArgumentsKw is no dictionary") }
            payload.keywords = keywords
        }
        try self.end()
        return payload
    }

    /// Reads options that a client may leave out at the end of a message.
    mutating func optionsAtEnd() throws(WAMPViolation) {
        if !self.rest.isEmpty { _ = try self.dictionary("Options") }
        try self.end()
    }

    func end() throws(WAMPViolation) {
        guard self.rest.isEmpty else { throw WAMPViolation("the message has too many elements") }
    }
}
