package import Market
import NIOCore
import Wire

/// The holdings, the groups and the time zone of the relay's person, for the page.
package struct RelayHoldings: Sendable, Equatable {
    /// A named list of symbols with the order of its table.
    package struct Group: Sendable, Equatable {
        package var name: String
        package var symbols: [String]
        package var order: String
        package var isReversed: Bool

        package init(name: String, symbols: [String], order: String, isReversed: Bool) {
            (self.name, self.symbols, self.order, self.isReversed) = (name, symbols, order, isReversed)
        }
    }

    package var holdings: Holdings
    package var groups: [Group]
    /// Whether amounts are hidden until the person shows them.
    package var isHidden: Bool
    /// The zone of the times, by its name in the time zone database; `nil` for that of the browser.
    package var timeZone: String?

    package init(
        holdings: Holdings = Holdings(),
        groups: [Group] = [],
        isHidden: Bool = false,
        timeZone: String? = nil
    ) {
        (self.holdings, self.groups, self.isHidden, self.timeZone) = (holdings, groups, isHidden, timeZone)
    }

    /// The body of `/v1/holdings`; decimals are exact strings.
    var body: ByteBuffer {
        JSONWriter.object { out in
            out.field("currency", self.holdings.currency)
            out.field("hidden", self.isHidden)
            out.field("timeZone", self.timeZone)
            out.array("lots") { out in
                for lot in self.holdings.lots {
                    out.element { out in
                        out.field("symbol", lot.symbol)
                        out.field("quantity", "\(lot.quantity)")
                        out.field("cost", "\(lot.cost)")
                        out.field("currency", lot.currency)
                    }
                }
            }
            out.array("rates") { out in
                for rate in self.holdings.rates {
                    out.element { out in
                        out.field("symbol", rate.symbol)
                        out.field("base", rate.base)
                        out.field("quote", rate.quote)
                    }
                }
            }
            out.array("groups") { out in
                for group in self.groups {
                    out.element { out in
                        out.field("name", group.name)
                        out.field("symbols", group.symbols)
                        out.field("order", group.order)
                        out.field("reversed", group.isReversed)
                    }
                }
            }
        }
    }
}
