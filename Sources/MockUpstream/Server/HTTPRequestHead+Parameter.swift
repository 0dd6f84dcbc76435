import HTTP
import NIOHTTP1

extension HTTPRequestHead {
    /// Returns a parameter of the query, still percent-encoded; `nil` if it is missing or empty.
    func parameter(_ name: String) -> String? {
        let beginning = name + "="
        guard let pair = (self.query ?? "").split(separator: "&").first(where: { $0.hasPrefix(beginning) }) else {
            return nil
        }
        let value = pair.dropFirst(beginning.count)
        return value.isEmpty ? nil : String(value)
    }
}
