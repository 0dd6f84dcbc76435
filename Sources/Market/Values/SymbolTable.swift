/// The names behind the ``SymbolID``s of one feed, in order of first appearance.
///
/// A value: the feed's loop owns and extends it, and every batch carries the copy that was current (one retain).
public struct SymbolTable: Sendable {
    /// The most symbols a table holds; more would be a broken or hostile upstream (Finnhub's limit is 50 a connection).
    public static let capacity = 4_096

    public private(set) var names: [String] = []
    private var numbers: [String: SymbolID] = [:]

    public init() {}

    /// The symbol's number, given now if it is new; `nil` when the table is full.
    public mutating func intern(_ name: String) -> SymbolID? {
        if let known = self.numbers[name] { return known }
        guard self.names.count < Self.capacity else { return nil }
        let id = SymbolID(index: UInt16(self.names.count))
        self.names.append(name)
        self.numbers[name] = id
        return id
    }

    /// The symbol's number if it has one.
    public func id(of name: String) -> SymbolID? { self.numbers[name] }

    /// The symbol's name, for an id of this table or of an earlier copy of it.
    public func name(of id: SymbolID) -> String { self.names[Int(id.index)] }

    public var count: Int { self.names.count }
}
