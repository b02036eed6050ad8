/* mcbsp.h - bsp.h under the name that MulticoreBSP gives it. */
#ifndef _MCBSP_H
#define _MCBSP_H

#include "bsp.h"

#endif /* _MCBSP_H */
